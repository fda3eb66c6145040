"""Calibrator files that a server follows: a new one counts, a broken one is withdrawn, an unfit one is refused."""

import json
import os
from pathlib import Path

import pytest

from demur.calibration.calibrator_file import sealed
from demur.calibration.errors import CalibratorFileError
from demur.calibration.matching import NEEDED, ServedCalibrator
from demur.calibration.store import CalibratorStore
from demur.core.answers import ParsedConfidence
from served_calibrators import calibrator, file

CONDITIONS = {
    "contract": "response",
    "prompt": "abc",
    "granularity": "response",
    "aggregation": None,
    "source": "verbalized",
    "samples": 1,
    "temperature": 1.0,
    "top_p": 1.0,
    "max_tokens": 256,
    "turns": "one",
    **dict.fromkeys(("selection", "stopping", "error_budget", "forced", "system", "labels")),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return file(tmp_path / "calibrator.json", CONDITIONS)


def test_a_changed_file_counts_at_the_next_look(path) -> None:
    store = CalibratorStore([path], "files:one")
    before = store.loaded[0].calibrator.id
    file(path, CONDITIONS, rows=501)
    store.refresh()
    assert store.loaded[0].calibrator.id != before
    assert store.fitting
    assert store.trouble is None


@pytest.mark.parametrize("harm", ["gone", "half", "edited", "no card", "newer"])
def test_a_file_that_cannot_be_used_any_more_is_withdrawn_and_comes_back(path, harm, caplog) -> None:
    store, good = CalibratorStore([path], "files:one"), path.read_text()
    match harm:
        case "gone":
            path.unlink()
        case "half":
            path.write_text(good[: len(good) // 2])
        case "edited":
            path.write_text(good.replace('"threshold": 0.5', '"threshold": 0.1'))
        case "newer":
            path.write_text(good.replace('"format": 1', '"format": 2'))
        case _:
            path.write_text(json.dumps(calibrator(CONDITIONS, model=None).model_dump(mode="json")))
    store.refresh()
    assert store  # it still has files to follow: the request says why it is not calibrated
    assert not store.loaded
    assert store.trouble is not None
    assert "a calibrator was withdrawn" in caplog.text
    path.write_text(good)
    store.refresh()
    assert store.fitting
    assert store.trouble is None


def test_a_file_replaced_by_renaming_counts_too(path, tmp_path) -> None:
    store = CalibratorStore([path], "files:one")
    os.replace(file(tmp_path / "new.json", CONDITIONS, rows=777), path)
    store.refresh()
    assert store.loaded[0].calibrator.rows == 777


def test_one_of_another_model_is_loaded_and_does_not_fit(path, caplog) -> None:
    store = CalibratorStore([path], "files:two")
    assert store.loaded
    assert not store.fitting
    assert "files:one" in (store.trouble or "")
    assert "a calibrator is not applied" in caplog.text


def test_rows_without_a_run_card_make_none_that_a_server_takes(tmp_path) -> None:
    bare = file(tmp_path / "bare.json", CONDITIONS, model=None)
    with pytest.raises(CalibratorFileError, match=r"bare\.json: .*without a run card.*calibrators apply takes it"):
        CalibratorStore([bare], "files:one")


@pytest.mark.parametrize("name", sorted(NEEDED))
def test_one_that_does_not_know_a_condition_of_its_answers_is_refused_by_name(name) -> None:
    known = {key: value for key, value in CONDITIONS.items() if key != name}
    with pytest.raises(CalibratorFileError, match=rf"does not say {name} of the graded answers"):
        ServedCalibrator(calibrator(known), "c.json")


def test_one_without_a_fingerprint_is_refused() -> None:
    with pytest.raises(CalibratorFileError, match="fingerprint"):
        ServedCalibrator(calibrator(CONDITIONS, fingerprint=None), "c.json")


def test_level_and_granularity_have_to_agree() -> None:
    with pytest.raises(CalibratorFileError, match="level is claims"):
        ServedCalibrator(calibrator(CONDITIONS, level="claims"), "c.json")


@pytest.mark.parametrize("name", sorted(set(CONDITIONS) - {"source"}))
def test_any_condition_that_differs_is_a_misfit_that_names_it(name) -> None:
    served = ServedCalibrator(calibrator(CONDITIONS), "c.json")
    assert served.misfit(CONDITIONS) is None
    assert name in (served.misfit(CONDITIONS | {name: "other"}) or "")


def test_a_condition_that_the_calibrator_has_never_heard_of_is_a_misfit() -> None:
    """A newer server may draw answers in a way that an older calibrator says nothing of."""
    served = ServedCalibrator(calibrator(CONDITIONS), "c.json")
    assert "penalty" in (served.misfit(CONDITIONS | {"penalty": 0.5}) or "")
    assert served.misfit(CONDITIONS | {"penalty": None}) is None


def test_a_missing_confidence_stays_missing_and_an_invalid_one_invalid() -> None:
    served = ServedCalibrator(calibrator(CONDITIONS), "c.json")
    states = [served.confidence(given).state for given in ({}, {"verbalized": ParsedConfidence("invalid")})]
    assert states == ["missing", "invalid"]


def test_a_threshold_is_reached_by_the_graded_answer_that_it_is_the_confidence_of() -> None:
    """The map gives one answer alone the very number that it gave it among the others."""
    made = calibrator(CONDITIONS)
    served = ServedCalibrator(made, "c.json")
    stated = [i / 997 for i in range(998)]
    together = made.confidence(_column(stated)).tolist()
    alone = [served.confidence({"verbalized": ParsedConfidence("value", p)}).value for p in stated]
    assert alone == together


def _column(values):
    import numpy as np

    return np.array(values)[:, None]


def test_sealed_files_do_not_depend_on_the_order_of_fields() -> None:
    one = calibrator(CONDITIONS)
    fields = {k: v for k, v in one.model_dump(mode="json").items() if k not in ("format", "id", "digest")}
    assert sealed(dict(reversed(fields.items()))).id == one.id
