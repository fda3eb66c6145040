"""Fingerprints change with whatever changes answers, and with nothing else."""

import json
import os
from pathlib import Path

import pytest

from demur.fingerprint import of_folder, of_name, of_parts
from demur.manifest import Manifest
from demur.serving.model_identity import fingerprint_of

MANIFEST = Manifest(name="m", calibrated=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "model"
    (made / "critic").mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", "model.safetensors", "chat_template.jinja", "critic/config.json"):
        (made / name).write_text(name)
    (made / "demur.json").write_text("{}")
    (made / "README.md").write_text("about")
    return made


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors", "chat_template.jinja"])
def test_configuration_tokenizer_and_weights_count(folder, name) -> None:
    before = of_folder(folder, MANIFEST)
    (folder / name).write_text("other")
    assert of_folder(folder, MANIFEST) != before


def test_a_file_more_or_less_or_in_the_critic_counts(folder) -> None:
    seen = {of_folder(folder, MANIFEST)}
    (folder / "adapter.safetensors").write_text("x")
    seen.add(of_folder(folder, MANIFEST))
    (folder / "critic" / "config.json").write_text("other")
    seen.add(of_folder(folder, MANIFEST))
    (folder / "tokenizer.json").unlink()
    seen.add(of_folder(folder, MANIFEST))
    assert len(seen) == 4


def test_cards_hidden_files_and_metrics_do_not(folder) -> None:
    before = of_folder(folder, MANIFEST)
    (folder / "README.md").write_text("else")
    (folder / ".gitattributes").write_text("x")
    (folder / "demur.json").write_text('{"metrics": 1}')
    assert of_folder(folder, MANIFEST.model_copy(update={"metrics": {"auc": 1}})) == before
    assert of_folder(folder, MANIFEST.model_copy(update={"training": {"domain": "maths"}})) != before


@pytest.mark.parametrize(
    ("arguments", "same"),
    [({"max_num_seqs": 4}, True), ({"quantization": "fp8"}, False), ({"dtype": "float32"}, False)],
)
def test_arguments_that_change_answers_count(folder, arguments, same) -> None:
    assert (of_folder(folder, MANIFEST, arguments) == of_folder(folder, MANIFEST)) is same


def test_a_file_is_read_once_while_it_does_not_change(folder, tmp_path) -> None:
    cache = tmp_path / "cache" / "fingerprints.json"
    first = of_folder(folder, MANIFEST, cache=cache)
    known = json.loads(cache.read_text())
    assert len(known) == 5
    cache.write_text(json.dumps(dict.fromkeys(known, "0" * 64)))  # what it remembers is used
    assert of_folder(folder, MANIFEST, cache=cache) != first
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, ns=(1, 1))
    assert of_folder(folder, MANIFEST, cache=cache) == first


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}'])
def test_a_spoilt_cache_costs_time_alone(folder, tmp_path, text) -> None:
    cache = tmp_path / "fingerprints.json"
    cache.write_text(text)
    assert of_folder(folder, MANIFEST, cache=cache) == of_folder(folder, MANIFEST)


def test_the_hubs_cache_is_believed_by_the_names_of_its_blobs(tmp_path) -> None:
    blobs, folder = tmp_path / "blobs", tmp_path / "snapshot"
    blobs.mkdir()
    folder.mkdir()
    (blobs / ("a" * 64)).write_text("weights that are never read")
    (folder / "model.safetensors").symlink_to(blobs / ("a" * 64))
    before = of_folder(folder, MANIFEST)
    (blobs / ("a" * 64)).write_text("still not read")
    assert of_folder(folder, MANIFEST) == before


def test_what_is_known_by_its_name_alone_is_marked(folder) -> None:
    assert of_folder(folder, MANIFEST).startswith("files:")
    assert of_parts({"adapter": "x"}, MANIFEST).startswith("files:")
    assert of_name("gpt", MANIFEST).startswith("named:")
    assert of_name("gpt", MANIFEST) != of_name("gpt-2", MANIFEST)


def test_the_embedded_model_is_known_by_what_it_was_made_from(folder) -> None:
    """The last bits of merged weights differ between machines, and a shipped calibrator has to fit on all of them."""

    def known_as(**made: object) -> str:
        (folder / "prepared.json").write_text(
            json.dumps({"conversion": 2, "sha256": {"model.safetensors": "x"}} | made)
        )
        return fingerprint_of(str(folder), MANIFEST, {}, embedded=True)

    before = known_as(source="s", adapter="a")
    (folder / "model.safetensors").write_text("rounded otherwise")
    assert known_as(source="s", adapter="a", sha256={"model.safetensors": "y"}) == before
    assert len({before, known_as(source="t", adapter="a"), known_as(source="s", adapter="b")}) == 3
