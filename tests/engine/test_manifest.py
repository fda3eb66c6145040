"""The model manifest: what is read from a folder, what is refused, and what a model without one is taken for."""

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import ValidationError

from demur.core.contracts import CONTRACTS
from demur.manifest import MOST_BYTES, Critic, Manifest, ManifestError, SamplingDefaults

WHOLE = {
    "name": "demur-4b",
    "calibrated": True,
    "contracts": ["claims", "response"],
    "aggregation": "product",
    "recipe": "confidence-prod",
    "base": "some/base",
    "sampling": {"temperature": 0.6, "top_p": 0.95, "max_tokens": 2048},
    "critic": {"path": "critic", "scale": "signed"},
    "training": {"steps": 300, "data": ["a", "b"]},
    "metrics": {"smece": 0.05},
    "examples": [],
    "measured": {},
}


def folder_with(tmp_path: Path, text: str) -> Path:
    (tmp_path / "demur.json").write_text(text, encoding="utf-8")
    return tmp_path


def test_every_field_is_read(tmp_path):
    manifest = Manifest.load(folder_with(tmp_path, json.dumps(WHOLE)))
    assert manifest == Manifest(
        name="demur-4b",
        calibrated=True,
        contracts=("claims", "response"),
        aggregation="product",
        recipe="confidence-prod",
        base="some/base",
        sampling=SamplingDefaults(temperature=0.6, top_p=0.95, max_tokens=2048),
        critic=Critic(path="critic", scale="signed"),
        training={"steps": 300, "data": ["a", "b"]},
        metrics={"smece": 0.05},
    )


def test_what_is_written_is_what_is_read(tmp_path):
    manifest = Manifest.model_validate(WHOLE)
    manifest.write(tmp_path)
    assert Manifest.load(tmp_path) == manifest
    assert json.loads((tmp_path / "demur.json").read_text()) == WHOLE


def test_a_folder_without_one_is_not_calibrated_and_may_be_asked_under_every_contract(tmp_path):
    folder = tmp_path / "some-model"
    folder.mkdir()
    manifest = Manifest.load(folder)
    assert (manifest.name, manifest.calibrated, manifest.contracts) == ("some-model", False, tuple(CONTRACTS))
    assert manifest.critic is None


def test_a_name_that_is_neither_folder_nor_hub_id_is_not_calibrated():
    manifest = Manifest.load("not a hub id")
    assert (manifest.name, manifest.calibrated, manifest.contracts) == ("not a hub id", False, tuple(CONTRACTS))


def test_a_model_nobody_trained_is_forced_into_every_contract():
    manifest = Manifest.uncalibrated("base")
    assert not manifest.calibrated
    assert manifest.contracts == ("response", "claims", "explicit_risk")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"calibratd": True}, "calibratd: Extra inputs are not permitted"),
        ({"calibrated": "yes"}, "calibrated:"),
        ({"contracts": []}, "contracts:"),
        ({"contracts": ["response", "response"]}, "a contract is listed twice"),
        ({"contracts": ["essay"]}, "contracts.0:"),
        ({"aggregation": "mean"}, "aggregation:"),
        ({"name": ""}, "name:"),
        ({"sampling": {"temperature": -1}}, "sampling.temperature:"),
        ({"sampling": {"temperature": float("nan")}}, "sampling.temperature:"),
        ({"sampling": {"top_p": 0}}, "sampling.top_p:"),
        ({"sampling": {"max_tokens": 0}}, "sampling.max_tokens:"),
        ({"sampling": {"top_k": 5}}, "sampling.top_k: Extra inputs are not permitted"),
        ({"critic": {"scale": "unit"}}, "critic.path: Field required"),
        ({"critic": {"path": "c", "scale": "percent"}}, "critic.scale:"),
    ],
)
def test_a_wrong_field_is_named_with_the_file(tmp_path, change, said):
    folder = folder_with(tmp_path, json.dumps(WHOLE | change))
    with pytest.raises(ManifestError) as caught:
        Manifest.load(folder)
    assert said in str(caught.value)
    assert str(folder / "demur.json") in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"calibrated": true}', "\ud800".encode("utf-8", "surrogatepass")]
)
def test_a_broken_file_is_refused(tmp_path, text):
    path = tmp_path / "demur.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ManifestError, match=r"demur\.json"):
        Manifest.load(tmp_path)


def test_a_manifest_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Manifest.uncalibrated("base").calibrated = True  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "\x1b]0;owned\x07"}, "name:"),
        ({"name": "two\nlines"}, "name:"),
        ({"name": "n" * 501}, "name:"),
        ({"base": "\x1b[2J"}, "base:"),
        ({"recipe": "\u202e"}, "recipe:"),
        ({"\x1b[31m": 1}, "x1b[31m: Extra inputs"),
        ({"contracts": ["essay"] * 100_000}, "contracts"),
        ({f"f{i}": 1 for i in range(50)}, "and 45 more"),
        ({"sampling": {"max_tokens": 10**30}}, "sampling.max_tokens:"),
        ({"training": {"steps": 10**5000}}, "number out of range"),
        ({"critic": {"path": "../../elsewhere"}}, "critic.path:"),
        ({"critic": {"path": "critic/../../elsewhere"}}, "critic.path:"),
        ({"critic": {"path": "/etc"}}, "critic.path:"),
        ({"critic": {"path": "~/critic"}}, "critic.path:"),
        ({"critic": {"path": "..\\x"}}, "critic.path:"),
        ({"critic": {"path": "*"}}, "critic.path:"),
        ({"critic": {"path": ""}}, "critic.path:"),
        ({"critic": {"path": "a\x1bb"}}, "critic.path:"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else next(iter(value)),
)
def test_what_could_drive_a_terminal_or_lead_elsewhere_is_refused(tmp_path, change, said):
    with digits_without_limit():
        folder = folder_with(tmp_path, json.dumps(WHOLE | change))
    with pytest.raises(ManifestError) as caught:
        Manifest.load(folder)
    assert said in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 3000


@contextmanager
def digits_without_limit():
    """To write a number that Python would not print again."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.parametrize(
    ("make_bad", "said"),
    [
        (os.mkfifo, "a pipe"),
        (Path.mkdir, "a folder"),
        (lambda path: path.symlink_to("/dev/zero"), "a device"),
        (lambda path: path.symlink_to("nowhere"), "No such file"),
        (lambda path: path.write_bytes(b" " * (MOST_BYTES + 1)), "larger than"),
        (lambda path: path.write_text('{"name": "x", "training": {"a": ' + "[" * 100_000), "recursion"),
    ],
    ids=["pipe", "folder", "device", "dangling", "huge", "deep"],
)
def test_what_is_no_manifest_is_refused_at_once_and_never_passed_over(tmp_path, make_bad, said):
    """A model must not be served as not calibrated because its manifest cannot be read."""
    make_bad(tmp_path / "demur.json")
    for read in (lambda: Manifest.load(tmp_path), lambda: Manifest.read(tmp_path / "demur.json")):
        with pytest.raises(ManifestError, match=said) as caught:
            read()
        assert "demur.json" in str(caught.value)


def test_a_model_is_not_named_by_escapes_either(tmp_path):
    folder = tmp_path / "a\x1b[2Jb"
    folder.mkdir()
    for named in (lambda: Manifest.load(folder), lambda: Manifest.uncalibrated("a\x1b[2Jb")):
        with pytest.raises(ManifestError) as caught:
            named()
        assert str(caught.value).isprintable()
