"""`demur calibrators` and runs: applying to rows, showing, listing, comparing."""

import json

import numpy as np
import pytest

from calibration.graded_rows import records
from demur.calibration.calibrate import Options, calibrate
from demur.calibration.calibrator_file import read, write
from demur.calibration.graded_source import read_source
from demur.calibration.wording import confidence_needed

CARD = {
    "plan": {
        "model": "small", "contract": "response", "granularity": "response", "aggregation": "min", "prompt": None,
        "confidence_source": None, "samples": 4, "selection": "majority", "temperature": 0.7, "top_p": 0.9,
        "max_tokens": 256, "extra": {"top_k": 20, "stop": ["a secret word"]},
    },
    "served": {"name": "small", "fingerprint": "f1", "prompt": "64a81757e21c"},
}  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A calibrator from 200 rows."""
    folder = tmp_path_factory.mktemp("kept")
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in records(200)))
    write(
        folder / "c.json", calibrate(read_source(path, None), Options(resamples=50), "2026-11-25T12:00:00Z").calibrator
    )
    return folder / "c.json"


@pytest.fixture
def run_folder(tmp_path, rows):
    def make(name="run", card=CARD, lines=None):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps(card))
        rows(lines or records(200), f"{name}/rows.jsonl")
        return folder

    return make


@pytest.fixture
def calibrated(demur, tmp_path):
    def make(source, name="c.json", *options):
        result = demur("calibrate", source, "--resamples", 100, "--out", tmp_path / name, *options)
        assert result.exit_code == 0, result.output
        return tmp_path / name

    return make


def test_a_run_gives_the_calibrator_its_model_and_how_it_was_asked(run_folder, calibrated):
    calibrator = read(calibrated(run_folder()))
    assert (calibrator.model.name, calibrator.model.fingerprint) == ("small", "f1")
    assert (calibrator.contract, calibrator.prompt) == ("response", "64a81757e21c")
    sampling = dict(calibrator.sampling)
    assert sampling.pop("stop").startswith("sha256:")
    assert sampling == {
        "temperature": 0.7, "top_p": 0.9, "max_tokens": 256, "selection": "majority", "samples": 4, "top_k": 20,
    }  # fmt: skip


def test_a_critic_run_calibrates_the_critic(run_folder, calibrated):
    card = CARD | {"plan": CARD["plan"] | {"confidence_source": "critic"}}
    lines = [
        {"problem": r["problem"], "confidence": r["signals"]["critic"], "correct": r["correct"]} for r in records(200)
    ]
    assert read(calibrated(run_folder(card=card, lines=lines))).signals == ("critic",)


def test_applying_replaces_the_confidence_and_keeps_the_raw_one(rows, calibrated, demur):
    lines = [
        {"problem": r["problem"], "confidence": r["signals"]["verbalized"], "correct": r["correct"], "note": "kept"}
        for r in records(300)
    ]
    file = calibrated(rows(lines))
    lines[0]["confidence"] = None
    del lines[1]["correct"]
    result = demur("calibrators", "apply", file, rows(lines, "new.jsonl"))
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["raw_confidence"] for row in found] == [row["confidence"] for row in lines]
    assert found[0]["confidence"] is None
    values = np.array([[np.nan if row["confidence"] is None else row["confidence"]] for row in lines])
    expected = read(file).confidence(values)
    assert [row["confidence"] for row in found[1:]] == expected[1:].tolist()
    assert all(row["note"] == "kept" for row in found)


def test_applying_takes_the_signals_that_the_map_uses(rows, calibrated, demur, tmp_path):
    file = calibrated(rows(records(400)))
    out = tmp_path / "out.jsonl"
    assert demur("calibrators", "apply", file, rows(records(20, seed=5), "new.jsonl"), "--out", out).exit_code == 0
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert all(0 <= row["confidence"] <= 1 for row in found)
    assert found[0]["raw_confidence"] == found[0]["signals"]["verbalized"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{"problem": 1, "claim": 0, "confidence": 0.5, "correct": True}], "no row is of the calibrator's level"),
        ([{"problem": 1, "signals": {"other": 0.5}, "correct": True}], "no row has a signal that the calibrator takes"),
        ([{"problem": 1, "confidence": 55, "correct": True}], "divide percentages by 100"),
        ([{"problem": 1, "confidence": 0.5, "correct": "x"}], '"correct"'),
    ],
)
def test_rows_it_cannot_be_applied_to_are_refused(lines, words, rows, kept, demur):
    result = demur("calibrators", "apply", kept, rows(lines, "new.jsonl"))
    assert result.exit_code == 1
    assert words in result.stderr
    assert result.stdout == ""


def test_a_run_of_another_model_or_contract_is_refused(run_folder, calibrated, demur):
    file = calibrated(run_folder())
    assert demur("calibrators", "apply", file, run_folder("again")).exit_code == 0
    other = run_folder("other", CARD | {"served": {"name": "small", "fingerprint": "f2", "prompt": "64a81757e21c"}})
    assert "of another model" in demur("calibrators", "apply", file, other).stderr
    asked = run_folder("asked", CARD | {"plan": CARD["plan"] | {"contract": "claims"}})
    assert "contract claims" in demur("calibrators", "apply", file, asked).stderr


def test_promises_are_tested_on_other_graded_answers(rows, calibrated, demur):
    """Of 100 new questions the surest 60 are given at 0.3, and 12 of these are wrong."""
    file = calibrated(rows(records(600)), "raw.json", "--raw", "verbalized", "--max-error", "0.01,0.3")
    [none, some] = read(file).guarantees
    assert none.threshold is None
    assert some.threshold is not None
    lines = [
        {"problem": i, "confidence": some.threshold if i < 60 else some.threshold / 2, "correct": i >= 12}
        for i in range(100)
    ]
    lines += [
        {"problem": 100, "confidence": some.threshold, "correct": None},
        {"problem": 0, "sample": 1, "confidence": 0.0, "correct": True},
        {"problem": 101, "confidence": None, "correct": False},
    ]
    result = demur("calibrators", "test", file, rows(lines, "new.jsonl"))
    assert result.exit_code == 0, result.output
    assert "101 other graded questions" in result.output
    [auc] = [line.split() for line in result.output.splitlines() if "confidence AUC" in line]
    assert float(auc[3]) == float(auc[7])  # a raw signal is served as it is
    [line] = [line.split("  ") for line in result.output.splitlines() if line.strip().startswith("0.3 ")]
    told = [cell.strip() for cell in line if cell.strip()]
    assert told[:3] == ["0.3", f"{some.threshold:.4g}", "60"]
    assert told[4] == "12"
    assert told[5].startswith("20.0 % (10.8 to 32.3)")


@pytest.mark.parametrize(
    ("threshold", "shown"), [(0.43218, "0.4322"), (0.99996, "0.99996"), (0.99999994, "0.9999999"), (1, "1"), (0, "0")]
)
def test_a_threshold_below_1_is_never_shown_as_1(threshold, shown):
    assert confidence_needed(threshold) == shown


@pytest.mark.parametrize(
    ("wrong", "words"), [(0, "kept here"), (6, "in keeping with it"), (18, "not kept here: these questions may differ")]
)
def test_a_promise_is_broken_only_where_the_whole_interval_lies_above_it(wrong, words, rows, calibrated, demur):
    file = calibrated(rows(records(600)), "raw.json", "--raw", "verbalized", "--max-error", "0.3")
    lines = [{"problem": i, "confidence": 1.0, "correct": i >= wrong} for i in range(24)]
    result = demur("calibrators", "test", file, rows(lines, "new.jsonl"))
    assert words in result.output


def test_of_several_claims_of_a_problem_one_is_counted(rows, calibrated, demur):
    lines = [{**row, "claim": 0} for row in records(600)]
    file = calibrated(rows(lines), "claims.json", "--raw", "verbalized", "--max-error", "0.3")
    new = [{"problem": i, "claim": j, "confidence": 1.0, "correct": i % 5 > 0} for i in range(40) for j in range(3)]
    result = demur("calibrators", "test", file, rows(new, "new.jsonl"))
    assert "40 other graded questions" in result.output
    assert "20.0 %" in result.output


@pytest.mark.parametrize(
    ("max_error", "line", "words"),
    [
        ("0.01", {"problem": 1, "confidence": 0.5, "correct": True}, "has no threshold"),
        ("0.3", {"problem": 1, "confidence": 0.5, "correct": None}, "no row was graded"),
    ],
)
def test_nothing_to_test_is_said(max_error, line, words, rows, calibrated, demur):
    file = calibrated(rows(records(600)), "raw.json", "--raw", "verbalized", "--max-error", max_error)
    result = demur("calibrators", "test", file, rows([line], "new.jsonl"))
    assert result.exit_code == 1
    assert words in result.stderr


def test_folders_that_are_no_finished_run_are_refused(demur, tmp_path, run_folder):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no run.json" in demur("calibrate", empty, "--out", tmp_path / "c.json").stderr
    unfinished = run_folder()
    (unfinished / "rows.jsonl").unlink()
    assert "not there yet" in demur("calibrate", unfinished, "--out", tmp_path / "c.json").stderr


def test_a_run_card_that_cannot_be_kept_is_refused_by_field(run_folder, demur, tmp_path):
    folder = run_folder(card=CARD | {"plan": CARD["plan"] | {"contract": "own", "model": "x" * 300}})
    result = demur("calibrate", folder, "--out", tmp_path / "c.json")
    assert result.exit_code == 1
    assert "model.name" in result.stderr
    assert "contract" in result.stderr
    assert not (tmp_path / "c.json").exists()


def test_show_says_what_a_calibrator_is(run_folder, calibrated, demur):
    file = calibrated(run_folder())
    shown = demur("calibrators", "show", file).stdout
    for words in (read(file).id, "small", "f1", "confidence AUC", "threshold", "tested on 120 questions"):
        assert words in shown, words
    assert json.loads(demur("calibrators", "show", file, "--json").stdout) == json.loads(file.read_text())


def test_list_names_the_good_and_the_bad(kept, demur, tmp_path):
    folder = tmp_path / "several"
    folder.mkdir()
    for name in ("one.json", "two.json"):
        (folder / name).write_bytes(kept.read_bytes())
    (folder / "other.json").write_text("{}")
    result = demur("calibrators", "list", folder)
    assert result.exit_code == 0
    assert "one.json" in result.stdout
    assert "two.json" in result.stdout
    assert "not used:" in result.stderr
    assert "other.json" in result.stderr
    assert "no folder" in demur("calibrators", "list", tmp_path / "nowhere").stderr


def test_diff_shows_what_changed(rows, calibrated, kept, demur):
    first, second = kept, calibrated(rows(records(200)), "b.json", "--certify", "cross-fit")
    shown = demur("calibrators", "diff", first, second).stdout
    assert "cross-fit" in shown
    assert "rows" not in [line.split()[0] for line in shown.splitlines() if line.split()]
    assert "the same" in demur("calibrators", "diff", first, first).stdout
    second.write_text(second.read_text().replace('"cross-fit"', '"split"'))
    assert "digest" in demur("calibrators", "diff", first, second).stderr
