"""An adapter put into a model's weights, and a value head put onto them: what is served and measured alike."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

WEIGHTS = "model.safetensors"
_A, _B, _ROOT = ".lora_A.weight", ".lora_B.weight", "base_model.model."


def merge(folder: Path, adapter: Mapping[str, "Tensor"]) -> None:
    """Add `adapter` (tensors under PEFT's names, scale 1) to the weights in `folder`, in their own precision.

    Raises ValueError when the adapter has a projection that the model does not.
    """
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / WEIGHTS)
    for key in (key for key in adapter if key.endswith(_A)):
        name = key.removeprefix(_ROOT).removesuffix(_A) + ".weight"
        if name not in weights:
            raise ValueError(f"the adapter does not belong to {folder}: there is no {name}")
        change = adapter[key.removesuffix(_A) + _B].float() @ adapter[key].float()
        weights[name] = (weights[name].float() + change).to(weights[name].dtype)
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def write_critic(model: Path, weight: "Tensor", bias: "Tensor", out: Path) -> Path:
    """Write `model` as a token classifier with one label into `out`, as vLLM and transformers load it by themselves.

    The value head is `weight` [1, width] and `bias` [1].
    """
    from safetensors.torch import load_file, save_file

    out.mkdir(parents=True, exist_ok=True)
    for name in ("chat_template.jinja", "tokenizer.json", "tokenizer_config.json"):
        if (model / name).exists():
            shutil.copy(model / name, out / name)
    config = json.loads((model / "config.json").read_text())
    config |= {"architectures": ["LlamaForTokenClassification"], "num_labels": 1}
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    weights = {name: weight for name, weight in load_file(model / WEIGHTS).items() if name != "lm_head.weight"}
    kind = weights["model.norm.weight"].dtype
    weights |= {"score.weight": weight.to(kind), "score.bias": bias.to(kind)}
    save_file(weights, out / WEIGHTS, metadata={"format": "pt"})
    return out
