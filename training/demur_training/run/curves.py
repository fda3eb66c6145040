"""Runs as curves: one picture a figure, one line a run, for a README or a look."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from demur_training.errors import DataError
from demur_training.run.training_metrics import read_log

SMOOTH = 5
"""Steps a line is averaged over; the steps themselves stay visible behind it."""


def read(run: Path, figure: str) -> tuple[list[float], list[float]]:
    """Steps and values of one figure of a run. Raises DataError when the run never logged it."""
    rows = [row for row in read_log(run / "metrics.jsonl") if figure in row]
    if not rows:
        raise DataError(f"{run} has logged no {figure}: is it a run's folder?")
    return [row["step"] for row in rows], [row[figure] for row in rows]


def smooth(values: Sequence[float], width: int = SMOOTH) -> list[float]:
    """The mean of each value and up to `width - 1` before it."""
    return [sum(values[max(0, i + 1 - width) : i + 1]) / min(width, i + 1) for i in range(len(values))]


def draw(runs: Mapping[str, Path], figures: Sequence[str], out: Path, level: float | None = None) -> None:
    """Write the picture; the ending of `out` says in which format. `level` is a value to compare with, dotted."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    picture = Figure(figsize=(4.2 * len(figures), 2.8), layout="constrained")
    for axes, figure in zip(picture.subplots(1, len(figures), squeeze=False)[0], figures, strict=True):
        for name, run in runs.items():
            steps, values = read(run, figure)
            (line,) = axes.plot(steps, smooth(values), label=name)
            axes.plot(steps, values, color=line.get_color(), alpha=0.25, linewidth=0.8)
        if level is not None:
            axes.axhline(level, color="grey", linestyle=":")
        axes.set(xlabel="step", title=figure)
        axes.legend(frameon=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "demur"}):  # the same runs draw the same file
        picture.savefig(out, metadata={"Date": None} if out.suffix == ".svg" else None)
