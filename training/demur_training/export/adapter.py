"""What training changed, as a low-rank adapter to the base model (LoRA), with what the low rank loses."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demur_training.errors import ModelError

TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""The linear layers vLLM serves adapters for. Changes to norms and embeddings fit no adapter, and count as lost."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What an adapter does not carry.

    `energy` is the share of the squared change of all weights that is lost; `divergence` the mean divergence in nats
    per token, KL(trained || adapted), over the prompts it was measured on, None where there were none.
    """

    rank: int
    energy: float
    divergence: float | None = None


def factors(change: Any, rank: int) -> tuple[Any, Any]:
    """B (out, rank) and A (rank, in) with B @ A the best approximation of `change` (out, in) at that rank."""
    import torch

    u, s, vh = torch.linalg.svd(change.float(), full_matrices=False)
    root = s[:rank].sqrt()
    return u[:, :rank] * root, root[:, None] * vh[:rank]


def write_adapter(base: str, trained: Path, out: Path, rank: int, prompts: Iterable[list[int]] = ()) -> Loss:
    """Write the change from `base` to `trained` as a PEFT adapter of `rank` into `out`, and measure the loss.

    `prompts` are token ids to compare the two models on. Raises ModelError when the models differ in shape.
    """
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM

    before = AutoModelForCausalLM.from_pretrained(base).float()
    after = AutoModelForCausalLM.from_pretrained(trained).float()
    weights, total, lost = _decompose(dict(before.named_parameters()), dict(after.named_parameters()), rank)
    out.mkdir(parents=True, exist_ok=True)
    save_file(weights, out / "adapter_model.safetensors", metadata={"format": "pt"})
    (out / "adapter_config.json").write_text(json.dumps(_configuration(base, rank), indent=2) + "\n")
    _apply(before, weights)
    return Loss(rank, lost / total if total else 0.0, _divergence(after, before, list(prompts)))


def _decompose(before: Mapping[str, Any], after: Mapping[str, Any], rank: int) -> tuple[dict[str, Any], float, float]:
    """Adapter weights, squared norm of the whole change, squared norm of what they leave out."""
    weights: dict[str, Any] = {}
    total = lost = 0.0
    for name, old in before.items():
        if name not in after or after[name].shape != old.shape:
            raise ModelError(f"the base model has another shape than the trained one: {name}")
        change = (after[name] - old).detach()
        total += float(change.square().sum())
        module, _, leaf = name.rpartition(".")
        if leaf == "weight" and module.rpartition(".")[2] in TARGETS:
            b, a = factors(change, rank)
            weights[f"base_model.model.{module}.lora_A.weight"] = a.contiguous()
            weights[f"base_model.model.{module}.lora_B.weight"] = b.contiguous()
            change = change - b @ a
        lost += float(change.square().sum())
    return weights, total, lost


def _apply(model: Any, weights: Mapping[str, Any]) -> None:
    """Add the adapter to the base model's weights."""
    import torch

    with torch.no_grad():
        for name, parameter in model.named_parameters():
            key = f"base_model.model.{name.removesuffix('.weight')}"
            if f"{key}.lora_A.weight" in weights:
                parameter += weights[f"{key}.lora_B.weight"] @ weights[f"{key}.lora_A.weight"]


def _divergence(trained: Any, adapted: Any, prompts: list[list[int]]) -> float | None:
    import torch

    if not prompts:
        return None
    sums, tokens = 0.0, 0
    with torch.no_grad():
        for ids in prompts:
            row = torch.tensor([ids])
            p, q = (model(row).logits[0].log_softmax(-1) for model in (trained, adapted))
            sums += float((p.exp() * (p - q)).sum())
            tokens += len(ids)
    return sums / tokens


def _configuration(base: str, rank: int) -> dict[str, Any]:
    """PEFT's description; alpha equals the rank, so that the scale is 1."""
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": rank,
        "lora_alpha": rank,
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "target_modules": list(TARGETS),
    }
