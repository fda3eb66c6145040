"""The model card: the manifest for people."""

from demur.core.contracts import CONTRACTS
from demur.manifest import Manifest


def card(manifest: Manifest, rank: int | None = None) -> str:
    """Markdown with the front matter that model hubs read."""
    base, step = manifest.base, manifest.training.get("step")
    adapter = f"A low-rank adapter (rank {rank}) to `{base}`, which is needed beside it.\n\n" if rank else ""
    return f"""---
base_model: {base}
tags: [calibration, abstention, demur]
---
# {manifest.name}

{adapter}Trained from `{base}` by the recipe `{manifest.recipe}`, step {step}. It prints
{CONTRACTS[manifest.contracts[0]].summary}. {_trust(manifest)}

Serve it with `demur serve --model DIR`; `demur.json` beside the weights says how it is prompted and read.

## Validation during training

{_table(manifest)}
Figures are for the validation questions of the run, sampled at temperature {manifest.sampling.temperature:g} and top-p
{manifest.sampling.top_p:g}. Confidence outside that field has not been measured.
{_critic(manifest)}"""


def _trust(manifest: Manifest) -> str:
    if manifest.calibrated:
        return "Its reward is a proper scoring rule: the best it could do was to say how likely it was to be right."
    return "Its reward did not look at the stated confidence, so the stated confidence means little."


def _table(manifest: Manifest) -> str:
    if not manifest.metrics:
        return "The run was not validated before this step.\n"
    rows = "".join(f"| {name} | {value:.3f} |\n" for name, value in manifest.metrics.items())
    return f"| figure | value |\n|---|---|\n{rows}"


def _critic(manifest: Manifest) -> str:
    if manifest.critic is None:
        return ""
    penalty = manifest.training.get("overlong_penalty")
    bias = f" The mean length penalty was {penalty:.3f}, which its value includes." if penalty is not None else ""
    return f"""
## Critic

`critic/` holds the value model of the run, read as a chance of success at the position before the last token. It
pictures expected success of the whole answer, never the correctness of a step.{bias}
"""
