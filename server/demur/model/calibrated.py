"""The calibrated model: SmolLM2-135M-Instruct with the adapter and the value head of the distribution demur-smol."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from demur.manifest import FILE_NAME, Manifest
from demur.model import smollm2
from demur.model.merging import merge, write_critic
from demur.model.smollm2 import Progress, SourceError


def _artefact() -> Path:
    """The folder of the weights: beside this file in a checkout, else that of the installed package, not imported."""
    beside = Path(__file__).with_name("demur_smol")
    spec = None if beside.is_dir() else find_spec(beside.name)
    folders = spec.submodule_search_locations if spec else None
    return Path(folders[0]) if folders else beside


ARTEFACT = _artefact()
"""Made by `make train-embedded`: adapter, value head, manifest, model card, and their hashes."""

SUMS = "SHA256SUMS"
FILES = smollm2.FILES | {
    "README.md",
    *(f"critic/{name}" for name in smollm2.FILES - {FILE_NAME, "generation_config.json"}),
}
"""What `convert` writes."""


def identity() -> str:
    """One hash over the whole artefact: a prepared folder of another one is made anew. Raises SourceError when a file
    of it is missing or damaged."""
    return _digest(_checked())


def weights_identity() -> str:
    """One hash over what answers: adapter and value head, without the card and the manifest, in which new figures or
    words make no other model. Raises SourceError as `identity` does."""
    return _digest({name: sum for name, sum in _checked().items() if name not in (FILE_NAME, "README.md")})


def _checked() -> dict[str, str]:
    """The artefact's files and their hashes, each of which holds."""
    try:
        pairs = [line.split() for line in (ARTEFACT / SUMS).read_text().splitlines()]
        for expected, name in pairs:
            if hashlib.sha256((ARTEFACT / name).read_bytes()).hexdigest() != expected:
                raise SourceError(f"{ARTEFACT / name} is damaged: pip install --force-reinstall demur-smol")
    except OSError as error:
        raise SourceError(f"the embedded model's adapter is missing: pip install demur-smol ({error})") from None
    return {name: expected for expected, name in pairs}


def _digest(sums: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(sums, sort_keys=True).encode()).hexdigest()


def convert(source: Path, folder: Path, progress: Progress) -> None:
    """Write FILES into `folder`: the base out of `source`, merged, and its critic. Raises SourceError."""
    from safetensors.torch import load_file

    smollm2.convert(source, folder, lambda doing, share: progress(doing, 0.7 * share))
    progress("merging the adapter", 0.7)
    merge(folder, load_file(ARTEFACT / "adapter_model.safetensors"))
    for name in (FILE_NAME, "README.md"):
        shutil.copy(ARTEFACT / name, folder / name)
    _sample_as_measured(folder)
    progress("writing the critic", 0.8)
    head = load_file(ARTEFACT / "critic.safetensors")
    write_critic(folder, head["score.weight"], head["score.bias"], folder / "critic")


def _sample_as_measured(folder: Path) -> None:
    path = folder / "generation_config.json"
    sampling = Manifest.load(folder).sampling.model_dump(include={"temperature", "top_p"})
    path.write_text(json.dumps(json.loads(path.read_text()) | sampling, indent=2) + "\n", encoding="utf-8")
