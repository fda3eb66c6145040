"""The calibrator file: what it says, and everything that is refused about one."""

import json

import numpy as np
import pytest

from calibration.graded_rows import records
from demur.calibration.calibrate import Options, calibrate
from demur.calibration.calibrator_file import digest_of, read, write
from demur.calibration.errors import CalibratorFileError
from demur.calibration.graded_source import read_source


@pytest.fixture(scope="module")
def calibrator(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in records(300, "blunt")))
    options = Options(levels=(0.1, 0.2), resamples=50)
    return calibrate(read_source(path, None), options, "2026-11-25T12:00:00Z").calibrator


@pytest.fixture
def file(calibrator, tmp_path):
    path = tmp_path / "c.json"
    write(path, calibrator)
    return path


def changed(file, change, *, sealed=True):
    """The file with its content changed; sealed again unless the change is to be noticed by the digest."""
    content = json.loads(file.read_text())
    change(content)
    if sealed:
        content["digest"] = digest_of(content)
    file.write_text(json.dumps(content))
    return file


def test_what_is_written_is_read_back(calibrator, file):
    again = read(file)
    assert again == calibrator
    values = np.random.default_rng(0).random((50, len(calibrator.signals)))
    assert (again.confidence(values) == calibrator.confidence(values)).all()


def test_fields_are_those_of_format_1(file):
    content = json.loads(file.read_text())
    assert set(content) == {
        "format", "id", "parent", "made", "digest", "model", "level", "contract", "prompt", "granularity", "aggregation",
        "sampling", "signals", "map", "rows", "problems", "before", "after", "certification", "guarantees",
        "smallest_max_error", "groups", "questions",
    }  # fmt: skip
    assert set(content["guarantees"][0]) == {
        "max_error", "delta", "threshold", "answered", "wrong", "coverage", "reason",
    }  # fmt: skip
    assert set(content["after"]) == {"auc", "smece", "brier", "snr_gain"}
    assert content["id"].startswith("cal_")


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["guarantees"][1].update(threshold=0.1),
        lambda c: c["map"].update(intercept=c["map"]["intercept"] + 0.5),
        lambda c: c.update(rows=c["rows"] + 1),
        lambda c: c.update(model={"name": "another", "fingerprint": "f"}),
        lambda c: c.update(made="2027-01-01T00:00:00Z"),
        lambda c: c["guarantees"][0].update(threshold=0.1, reason="none"),
    ],
)  # fmt: skip
def test_an_edited_file_is_noticed(file, change):
    with pytest.raises(CalibratorFileError, match="digest: the file was changed"):
        read(changed(file, change, sealed=False))


def test_a_number_that_json_cannot_write_again_is_an_edit(file):
    file.write_text(file.read_text().replace('"rows": ', '"rows": 1e999, "was": ', 1))
    with pytest.raises(CalibratorFileError, match="digest: the file was changed"):
        read(file)


BAD = {
    "newer": (lambda c: c.update(format=2), "format: 2 is of a newer demur"),
    "older": (lambda c: c.update(format=0), "format:"),
    "format as text": (lambda c: c.update(format="1"), "format:"),
    "no format": (lambda c: c.pop("format"), "format: the field is missing"),
    "a field too few": (lambda c: c.pop("signals"), "signals: Field required"),
    "a field too many": (lambda c: c.update(extra=1), "extra:"),
    "a number as text": (lambda c: c["guarantees"][0].update(coverage="0.4"), "guarantees.0.coverage:"),
    "a boolean as a number": (lambda c: c.update(rows=True), "rows:"),
    "threshold above 1": (lambda c: c["guarantees"][0].update(threshold=1.5, reason=None), "guarantees.0.threshold:"),
    "threshold and reason": (
        lambda c: c["guarantees"][0].update(threshold=0.5, reason="none"),
        "threshold is null exactly",
    ),
    "neither": (lambda c: c["guarantees"][0].update(threshold=None, reason=None), "threshold is null exactly"),
    "wrong above answered": (lambda c: c["guarantees"][0].update(answered=3, wrong=4), "wrong is above answered"),
    "levels out of order": (lambda c: c["guarantees"].reverse(), "max_error has to rise"),
    "signals twice": (lambda c: c.update(signals=["critic", "critic"]), "signals"),
    "no signals": (lambda c: c.update(signals=[]), "signals:"),
    "negative weight": (lambda c: c["map"].update(weights=[-1.0] * len(c["signals"])), "negative"),
    "weights too few": (lambda c: c["map"].update(weights=[], missing=[]), "signals"),
    "another map": (lambda c: c["map"].update(kind="forest"), "map"),
    "id": (lambda c: c.update(id="../../etc/passwd"), "id:"),
    "delta": (lambda c: c["certification"].update(delta=0), "certification.delta:"),
    "terminal codes": (lambda c: c.update(model={"name": "\x1b[31m", "fingerprint": None}), "model.name:"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_none_is_refused_by_field(name, file):
    change, words = BAD[name]
    with pytest.raises(CalibratorFileError) as raised:
        read(changed(file, change))
    assert words in str(raised.value)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no calibrator"),
        ("[]", "format: the field is missing"),
        ("null", "format: the field is missing"),
        ('{"format": 1, "rows": NaN}', "NaN is no number"),
        ('{"format": 1, "rows": Infinity}', "Infinity is no number"),
        ("[" * 100_000, "is no calibrator"),
        ("{", "is no calibrator"),
    ],
)
def test_what_is_no_json_is_refused(text, words, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(CalibratorFileError, match=words):
        read(path)


def test_missing_files_folders_and_bytes_are_named(tmp_path):
    with pytest.raises(CalibratorFileError, match=r"none\.json"):
        read(tmp_path / "none.json")
    with pytest.raises(CalibratorFileError, match="a folder"):
        read(tmp_path)
    (tmp_path / "b.json").write_bytes(b"\xff\xfe")
    with pytest.raises(CalibratorFileError, match="is no calibrator"):
        read(tmp_path / "b.json")


def test_a_request_is_served_by_the_greatest_level_not_above_it(file):
    def certified(content):
        content["guarantees"][0].update(threshold=0.8, reason=None, answered=50, wrong=1)
        content["guarantees"][1].update(threshold=0.6, reason=None, answered=90, wrong=9)

    calibrator = read(changed(file, certified))
    assert calibrator.guarantee_for(0.05) is None
    assert calibrator.guarantee_for(0.1).threshold == 0.8
    assert calibrator.guarantee_for(0.19).threshold == 0.8
    assert calibrator.guarantee_for(0.9).threshold == 0.6
