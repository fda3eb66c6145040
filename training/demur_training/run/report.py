"""The page of a run: curves, reliability by step, and outputs to look at, in one HTML file that fetches nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from demur.core.metrics import Rows, resample, tally
from demur.core.metrics.curves import reliability
from demur.evaluation.report.figures import STYLE, as_svg, smooth_reliability
from demur_training.errors import DataError
from demur_training.run import retention, validation_outputs
from demur_training.run.curves import smooth
from demur_training.run.training_metrics import read_log
from demur_training.run.validation_outputs import ValidationOutput

REPLICATES = 200
SHOWN = 4
"""Outputs of each kind."""

CURVES: Mapping[str, Mapping[str, str]] = {
    "Reward": {"critic/score/mean": "mean"},
    "Right, and how sure": {"calibration/accuracy": "accuracy", "calibration/confidence": "mean confidence"},
    "Spread of the confidences": {"calibration/confidence_spread": "standard deviation"},
    "Form": {"calibration/format": "in form", "calibration/overlong": "cut off", "calibration/abstained": "abstained"},
    "Questions without a difference": {"calibration/groups_alike": "all samples earn the same"},
    "Critic": {"critic/vf_loss": "loss"},
    "Length of an output": {"response_length/mean": "mean", "response_length/max": "longest"},
    "Seconds": {"timing_s/step": "a step", "timing_s/gen": "generation"},
}
"""Title of a figure, and what it draws: the name in the log, the name in the picture."""
ALARMS = "calibration/alarms"
"""How many alarms rang at a step."""
VALIDATION = ("accuracy", "auc", "smece", "brier", "snr_gain")


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure in the page."""

    title: str
    source: str


def write(run: Path, path: Path) -> None:
    """Write the page of a run. Raises DataError for a folder that holds no log of one."""
    log = read_log(run / "metrics.jsonl")
    if not log:
        raise DataError(f"{run} has no steps in metrics.jsonl: is it a run's folder?")
    path.write_text(page(run, log), encoding="utf-8")


def page(run: Path, log: Sequence[Mapping[str, float]]) -> str:
    """The page, from the log and from what the folder holds beside it."""
    validated = validation_outputs.steps(run)
    last = validation_outputs.read(run, validated[-1]) if validated else []
    return (
        _environment()
        .get_template("run.html.j2")
        .render(
            name=run.name,
            steps=int(log[-1]["step"]),
            best={figure: retention.best(run, figure) for figure in retention.FIGURES},
            warned=[int(row["step"]) for row in log if row.get(ALARMS)],
            settings=_settings(run),
            curves=[*_curves(log), *_validation_curves(log)],
            reliability=[picture for step in _ends(validated) if (picture := _reliability(run, step))],
            validated=validated,
            samples=_samples(last),
        )
    )


def _settings(run: Path) -> dict[str, Any]:
    """What decides a run, from the configuration it was started with."""
    from omegaconf import OmegaConf

    file = run / "config.yaml"
    if not file.is_file():
        return {}
    config = OmegaConf.load(file)
    wanted = {
        "recipe": "demur.recipe",
        "base model": "actor_rollout_ref.model.path",
        "questions a step": "data.train_batch_size",
        "samples a question": "actor_rollout_ref.rollout.n",
        "longest output": "data.max_response_length",
        "learning rate": "actor_rollout_ref.actor.optim.lr",
        "devices": "trainer.n_gpus_per_node",
        "nodes": "trainer.nnodes",
        "last step": "trainer.total_training_steps",
    }
    found = {name: OmegaConf.select(config, key) for name, key in wanted.items()}
    return {name: value for name, value in found.items() if value is not None}


def _curves(log: Sequence[Mapping[str, float]]) -> Iterator[Picture]:
    for title, lines in CURVES.items():
        series = {label: _series(log, key) for key, label in lines.items()}
        if any(steps for steps, _ in series.values()):
            yield Picture(title, as_svg(_drawn(title, series)))


def _validation_curves(log: Sequence[Mapping[str, float]]) -> Iterator[Picture]:
    """One figure a measure, one line a validation set."""
    keys = sorted({key for row in log for key in row if key.startswith("val-calibration/")})
    for measure in VALIDATION:
        mine = {key.split("/")[1]: key for key in keys if key.rsplit("/", 1)[1] == measure}
        if mine:
            title, series = f"Validation: {measure}", {name: _series(log, key) for name, key in mine.items()}
            yield Picture(title, as_svg(_drawn(title, series, smoothed=False)))


def _series(log: Sequence[Mapping[str, float]], key: str) -> tuple[list[float], list[float]]:
    rows = [row for row in log if key in row]
    return [row["step"] for row in rows], [row[key] for row in rows]


def _drawn(title: str, series: Mapping[str, tuple[list[float], list[float]]], *, smoothed: bool = True) -> Figure:
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.2, 2.6), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(title)
        for (label, (steps, values)), style in zip(series.items(), ("-", "--", ":", "-."), strict=False):
            if not smoothed:
                axes.plot(steps, values, linestyle=style, marker="o", markersize=3, label=label)
                continue
            (line,) = axes.plot(steps, smooth(values), linestyle=style, label=label)
            axes.plot(steps, values, color=line.get_color(), alpha=0.25, linewidth=0.8)
        axes.set_xlabel("step")
        axes.legend()
        return figure


def _ends(steps: Sequence[int]) -> list[int]:
    """The first, the middle and the last."""
    return sorted({steps[0], steps[len(steps) // 2], steps[-1]}) if steps else []


def _reliability(run: Path, step: int) -> Picture | None:
    outputs = validation_outputs.read(run, step)
    rows = Rows.of([one.confidence for one in outputs], [one.right for one in outputs], [one.prompt for one in outputs])
    if not (~np.isnan(rows.confidence)).any():
        return None
    diagram = reliability(tally(rows), resample(rows, replicates=REPLICATES))
    return Picture(f"Step {step}", as_svg(smooth_reliability(diagram, f"Step {step}")))


def _samples(outputs: Sequence[ValidationOutput]) -> dict[str, list[ValidationOutput]]:
    """What is worth reading: where confidence and outcome are furthest apart, and what has no confidence."""
    stated = [one for one in outputs if one.confidence is not None]
    by_confidence = sorted(stated, key=lambda one: one.confidence or 0.0)
    kinds = {
        "Surest, and wrong": [one for one in reversed(by_confidence) if not one.right],
        "Least sure, and right": [one for one in by_confidence if one.right],
        "No confidence could be read": [one for one in outputs if one.confidence is None],
        "As they came": list(outputs),
    }
    return {kind: found[:SHOWN] for kind, found in kinds.items() if found}


def _environment() -> Environment:
    return Environment(
        loader=ChoiceLoader([PackageLoader("demur_training.run"), PackageLoader("demur.evaluation.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
