"""A checkpoint -> a model folder that `demur serve` loads: weights, critic, manifest and model card."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from omegaconf import DictConfig, OmegaConf

from demur import prompts
from demur.manifest import Critic, Manifest, SamplingDefaults
from demur_training import recipes
from demur_training.errors import CheckpointError
from demur_training.export import adapter, merging
from demur_training.export.card import card
from demur_training.run import checkpoints, retention
from demur_training.run.launch import CONFIG
from demur_training.run.training_metrics import read_log
from demur_training.versions import installed

SCALES = {"success": "unit", "binary": "signed"}
"""Rules whose return says whether the answer was right, and how the critic's value becomes a probability."""
CALIBRATING = ("brier", "cross_entropy", "explicit_risk")


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and remarks for the person who asked."""

    manifest: Manifest
    remarks: tuple[str, ...]


def export(
    checkpoint: Path, out: Path, *, rank: int | None = None, name: str | None = None, best: str | None = None
) -> Exported:
    """Export `checkpoint` (a global_step_N folder, or a run's folder: its newest, or its best by `best`) into `out`.

    With `rank` the actor becomes a low-rank adapter to the base model. Raises CheckpointError for a checkpoint that
    is missing or half written.
    """
    folder = resolve_best(checkpoint, best) if best else resolve(checkpoint)
    config = _configuration(folder.parent)
    rule = recipes.reward_settings(config)["rule"]
    remarks = [_export_actor(folder, config, out, rank)]
    critic = None
    if (folder / "critic").is_dir():
        critic, remark = _export_critic(folder, rule, out)
        remarks.append(remark)
    manifest = describe(folder, config, name or out.resolve().name, critic)
    manifest.write(out)
    (out / "README.md").write_text(card(manifest, rank))
    return Exported(manifest, tuple(remarks))


def resolve(path: Path) -> Path:
    """The checkpoint meant by a path. Raises CheckpointError."""
    if not path.is_dir():
        raise CheckpointError(f"no such checkpoint: {path}")
    if checkpoints.steps(path):
        newest = checkpoints.latest(path)
        if newest is None:
            raise CheckpointError(f"no whole checkpoint in {path}")
        return newest
    checkpoints.require_whole(path)
    return path


def resolve_best(run: Path, figure: str) -> Path:
    """The checkpoint of a run with the best figure of its validation, `reward` or `smece`. Raises CheckpointError."""
    if figure not in retention.FIGURES:
        raise CheckpointError(f"--best {figure}: checkpoints are compared by {' or '.join(retention.FIGURES)}")
    step = retention.best(run, figure)
    if step is None:
        raise CheckpointError(f"no checkpoint in {run} was validated: export the newest without --best")
    return run / f"global_step_{step}"


def describe(folder: Path, config: DictConfig, name: str, critic: Critic | None) -> Manifest:
    """The model manifest (`demur.json`): what the model prints, how it was trained, what validation said."""
    settings = recipes.reward_settings(config)
    validation = config.actor_rollout_ref.rollout.val_kwargs
    step = int(folder.name.removeprefix("global_step_"))
    row = _validation_row(folder.parent, step)
    return Manifest(
        name=name,
        calibrated=settings["rule"] in CALIBRATING,
        contracts=(settings["contract"],),
        aggregation=settings["aggregation"],
        recipe=config.demur.recipe,
        base=config.actor_rollout_ref.model.path,
        sampling=SamplingDefaults(
            temperature=validation.temperature, top_p=validation.top_p, max_tokens=config.data.max_response_length
        ),
        critic=critic,
        training={
            "step": step,
            "rule": settings["rule"],
            "algorithm": config.algorithm.adv_estimator,
            "domain": config.demur.domain,
            "prompt_hash": prompts.prompt_hash(settings["contract"], config.demur.domain),
            "verl": installed("verl"),
            "overlong_penalty": row.get("calibration/overlong_penalty"),
        },
        metrics={key.removeprefix("val-calibration/"): v for key, v in row.items() if key.startswith("val-calib")},
    )


def _export_actor(folder: Path, config: DictConfig, out: Path, rank: int | None) -> str:
    if rank is None:
        _whole_actor(folder, out)
        return f"actor: {out}"
    base = config.actor_rollout_ref.model.path
    with TemporaryDirectory() as scratch:
        _whole_actor(folder, Path(scratch))
        loss = adapter.write_adapter(base, Path(scratch), out, rank, _some_prompts(config))
    nats = "" if loss.divergence is None else f"; {loss.divergence:.2g} nats a token from the trained model"
    return f"actor: adapter of rank {rank} to {base} in {out}, {loss.energy:.1%} of the change lost{nats}"


def _whole_actor(folder: Path, out: Path) -> None:
    if (folder / checkpoints.PLAIN).is_dir():
        shutil.copytree(folder / checkpoints.PLAIN, out, dirs_exist_ok=True)
    else:
        merging.merge_actor(folder / "actor", out)


def _export_critic(folder: Path, rule: str, out: Path) -> tuple[Critic | None, str]:
    scale: Any = SCALES.get(rule)
    if scale is None:
        return (
            None,
            f"critic: left out, it predicts the {rule} reward and not the chance of being right (see ppo-value)",
        )
    merging.merge_critic(folder / "critic", out / "critic")
    return Critic(path="critic", scale=scale), f"critic: {out / 'critic'}, scale {scale}"


def _some_prompts(config: DictConfig, count: int = 16) -> list[list[int]]:
    """Token ids of a few validation prompts, if the file is still there."""
    from demur_training.base_model import load_tokenizer
    from demur_training.checks.preflight import read_rows

    name = config.data.val_files if isinstance(config.data.val_files, str) else config.data.val_files[0]
    if not Path(name).is_file():
        return []
    tokenizer = load_tokenizer(config.actor_rollout_ref.model.path)
    chats = [row["prompt"] for row in read_rows(name, "val_files")[:count]]
    texts = [tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False) for chat in chats]
    return [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]


def _configuration(run: Path) -> DictConfig:
    path = run / CONFIG
    if not path.is_file():
        raise CheckpointError(f"{run} has no {CONFIG}: export a checkpoint that `demur-train run` wrote")
    config = OmegaConf.load(path)
    assert isinstance(config, DictConfig)
    return config


def _validation_row(run: Path, step: int) -> dict[str, float]:
    """The newest logged figures up to `step` that hold a validation, else the newest there are."""
    rows = [row for row in read_log(run / "metrics.jsonl") if row["step"] <= step]
    validated = [row for row in rows if any(key.startswith("val-calibration/") for key in row)]
    return (validated or rows or [{}])[-1]
