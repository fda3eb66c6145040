"""The figures, drawn to be read in black and white: hatches, line styles and widths carry what colour repeats."""

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from demur.core.metrics import Floats, Outcomes
from demur.core.metrics.curves import Band, Reliability, ThresholdCurves
from demur.evaluation.results import Results
from demur.evaluation.scaling import Scaling

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "hatch.linewidth": 0.5,
    "svg.hashsalt": "demur",
}

GREEN, RED, GREY, INK = "#b7ddb0", "#e79a8c", "#ededed", "#222222"
WIDEST_LINE = 9.0


@contextmanager
def _drawn(title: str, width: float = 4.6, height: float = 3.6) -> Iterator[tuple[Figure, Axes]]:
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(title)
        yield figure, axes


def stacked(outcomes: Outcomes, title: str) -> Figure:
    """Accuracy, hallucination and abstention over t, stacked to one; the dashed line is accuracy without abstention."""
    with _drawn(title) as (figure, axes):
        parts = outcomes.accuracy, outcomes.hallucination, outcomes.abstention
        names = "right", "wrong (hallucination)", "abstained"
        areas = axes.stackplot(
            outcomes.t, *parts, labels=names, colors=(GREEN, RED, GREY), edgecolor=INK, linewidth=0.6
        )
        for area, hatch in zip(areas, ("", "////", "...."), strict=True):
            area.set_hatch(hatch)
        always = outcomes.accuracy[0]
        axes.axhline(always, color=INK, linestyle="--", linewidth=1.2, label=f"right at t = {outcomes.t[0]:g}")
        _unit(axes, "risk threshold t", "share of all questions")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
        return figure


def true_positive_false_negative(curves: ThresholdCurves, title: str) -> Figure:
    """TP(t), wanted on or above the diagonal, and FN(t), wanted on or below it, each with its band."""
    with _drawn(title) as (figure, axes):
        axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle="--")
        _curve(axes, curves.true_positive, "TP: right if answered (wanted above)", "-", 2.2, "#2b6a9b")
        _curve(axes, curves.false_negative, "FN: right if abstained (wanted below)", ":", 2.2, "#9b4a2b")
        _unit(axes, "risk threshold t", "share that is right")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=1)
        return figure


def smooth_reliability(diagram: Reliability, title: str) -> Figure:
    """Accuracy against stated confidence; the line is as wide as the confidences are dense there."""
    with _drawn(title) as (figure, axes):
        axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle="--", label="perfectly calibrated")
        band, density = diagram.accuracy, diagram.density
        axes.fill_between(band.x, band.low, band.high, color="#c9c9c9", linewidth=0, label="95 % band")
        axes.add_collection(_by_density(band.x, band.value, density))
        height = 0.12 * density / max(float(np.max(density)), 1e-9)
        axes.fill_between(band.x, 0, height, facecolor="white", edgecolor=INK, hatch="|||", linewidth=0.6)
        axes.plot([], [], color="#2b6a9b", linewidth=4, label="accuracy (width and foot: density)")
        axes.text(0.03, 0.93, f"smECE {diagram.error:.3f}", fontweight="bold")
        _unit(axes, "confidence", "share that is right")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
        return figure


def scaling_curves(scaling: Scaling, source: str) -> Figure:
    """Accuracy over the number of samples for every way to choose, told apart by line style and marker."""
    styles = ("-", "o"), ("--", "s"), (":", "^"), ("-.", "D"), ((0, (5, 1)), "v")
    with _drawn(f"Test-time scaling, {source} confidence") as (figure, axes):
        for (name, band), (line, marker) in zip(scaling.curves[source].items(), styles, strict=False):
            axes.plot(band.x, band.value, linestyle=line, marker=marker, markersize=4, linewidth=1.4, label=name)
            axes.fill_between(band.x, band.low, band.high, alpha=0.12, linewidth=0)
        axes.set_xscale("log", base=2)
        axes.set_xticks(scaling.k, [str(k) for k in scaling.k])
        axes.minorticks_off()
        axes.set_xlabel("samples k")
        axes.set_ylabel("accuracy")
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
        return figure


def of_run(results: Results) -> dict[str, Figure]:
    """The figures of one run by file name."""
    figures = {
        "thresholds": stacked(results.curves.outcomes, "Answers over the risk threshold"),
        "decisions": true_positive_false_negative(results.curves, "Calibration of the decisions"),
    }
    if results.reliability is not None:
        figures["reliability"] = smooth_reliability(results.reliability, "Calibration of the confidence")
    return figures


def save(results: Results, folder: Path) -> list[Path]:
    """Write every figure as PNG and SVG; the paths written."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    with matplotlib.rc_context(STYLE):
        for name, figure in of_run(results).items():
            for suffix in ("png", "svg"):
                written.append(folder / f"{name}.{suffix}")
                figure.savefig(written[-1], dpi=160)
    return written


def as_svg(figure: Figure) -> str:
    """The figure as a data URI that an <img> shows without fetching anything."""
    file = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode()


def _curve(axes: Axes, band: Band, label: str, line: str, width: float, colour: str) -> None:
    axes.fill_between(band.x, band.low, band.high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(band.x, band.value, linestyle=line, linewidth=width, color=colour, label=label)


def _by_density(x: Floats, y: Floats, density: Floats) -> LineCollection:
    points = np.column_stack([x, y])
    segments = np.stack([points[:-1], points[1:]], axis=1)
    defined = ~np.isnan(segments).any(axis=(1, 2))
    share = (density[:-1] + density[1:]) / 2 / max(float(np.max(density)), 1e-9)
    widths = 0.8 + WIDEST_LINE * np.sqrt(share[defined])
    return LineCollection(list(segments[defined]), linewidths=list(widths), colors="#2b6a9b", capstyle="round")


def _unit(axes: Axes, x: str, y: str) -> None:
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=x, ylabel=y)
    axes.yaxis.set_major_formatter(PercentFormatter(1))
