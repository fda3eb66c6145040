"""The base model with the adapter in its weights: what is measured, and what is served."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

WEIGHTS = "model.safetensors"
_A, _B, _ROOT = ".lora_A.weight", ".lora_B.weight", "base_model.model."
_OF_THE_BASE = frozenset({WEIGHTS, "demur.json", "prepared.json"})
"""Files that would say something false about the merged model."""


def write_merged(base: Path, adapter: Mapping[str, Tensor], out: Path) -> Path:
    """Write `base` plus `adapter` (tensors under PEFT's names, scale 1) into `out`, in the base's own precision.

    Raises ValueError when the adapter has a projection that the base does not.
    """
    weights = load_file(base / WEIGHTS)
    for key in (key for key in adapter if key.endswith(_A)):
        name = key.removeprefix(_ROOT).removesuffix(_A) + ".weight"
        if name not in weights:
            raise ValueError(f"the adapter does not belong to {base}: there is no {name}")
        change = adapter[key.removesuffix(_A) + _B].float() @ adapter[key].float()
        weights[name] = (weights[name].float() + change).to(weights[name].dtype)
    out.mkdir(parents=True, exist_ok=True)
    for path in base.iterdir():
        if path.is_file() and path.name not in _OF_THE_BASE:
            shutil.copy(path, out / path.name)
    save_file(weights, out / WEIGHTS, metadata={"format": "pt"})
    return out
