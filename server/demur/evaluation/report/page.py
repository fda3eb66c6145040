"""The report: one HTML file that fetches nothing. Everything a model wrote is escaped."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from demur.core.metrics import METRICS
from demur.evaluation.formatting import ARROWS, OBJECTIVES, bound_of, counts_of, interval_of, value_of, verdict_of
from demur.evaluation.grade import Graded, unreadable
from demur.evaluation.promise import lines_of
from demur.evaluation.report.figures import as_svg, of_run, scaling_curves
from demur.evaluation.report.paper import PAPER, PaperTable, Table
from demur.evaluation.results import Results
from demur.evaluation.scaling import Scaling
from demur.evaluation.view import RunView

SHOWN_OF_EACH = 75
"""Responses inside the page for each kind of verdict; all of them are in the folder of the run."""

LONGEST_SHOWN = 20_000
"""Characters of one response."""

CAPTIONS = {
    "thresholds": "What the model does as the caller's risk threshold t rises: right answers, wrong answers,"
    " abstentions. The dashed line is the share that is right when everything is answered.",
    "decisions": "TP: of the answers given, how many are right; it should lie on or above the diagonal. FN: of the"
    " answers withheld, how many would have been right; it should lie on or below. Bands: 95 % over problems.",
    "reliability": "How often answers stated with a confidence are right, smoothed. The line is as wide as the answers"
    " are dense; the hatched foot shows the same. Band: 95 % over problems.",
}


SCALING_CAPTION = (
    "Accuracy when one answer is chosen from k samples of each question, with {source} confidence: the expected value"
    " over subsets of the samples drawn. Mean is one sample alone, Best any right one. Bands: 95 % over problems."
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure in the page."""

    source: str
    caption: str


def page(runs: Sequence[RunView], *, beside: Table | None = None) -> str:
    """The report of one run, or of several one after another."""
    template = _environment().get_template("report.html.j2")
    return template.render(
        runs=runs,
        paper=PAPER[beside] if beside is not None else None,
        metrics=METRICS,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def write(path: Path, runs: Sequence[RunView], *, beside: Table | None = None) -> Path:
    """Write the report; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(runs, beside=beside), encoding="utf-8", errors="replace")
    return path


def telling(graded: Sequence[Graded]) -> list[Graded]:
    """Some of each kind: wrong answers, the most confident first; ungraded ones; right ones, the least confident first.

    Where the threshold was in the prompt, answering in spite of a high one counts as confident.
    """
    shown: list[Graded] = []
    for verdict in ("wrong", "ungraded", "unreadable", "right", "abstained"):
        kind = [one for one in graded if verdict_on(one) == verdict]
        kind.sort(key=_sure, reverse=verdict == "wrong")
        shown += kind[:SHOWN_OF_EACH]
    return shown


def _sure(one: Graded) -> float:
    sure = one.output.confidence if one.key.risk_threshold is None else one.key.risk_threshold
    return sure or 0.0


def verdict_on(one: Graded) -> str:
    """In one word: right, wrong, ungraded, or (explicit-risk contract) abstained or unreadable."""
    if unreadable(one):
        return "unreadable"
    if one.key.risk_threshold is not None and one.output.answer is None:
        return "abstained"
    return "ungraded" if one.verdict.correct is None else "right" if one.verdict.correct else "wrong"


def stated(one: Graded) -> str:
    """The confidence, or why there is none, or the threshold that was asked for."""
    if one.key.risk_threshold is not None:
        return f"t = {one.key.risk_threshold:g}"
    return one.output.state if one.output.confidence is None else f"{one.output.confidence:.2f}"


def pictures(results: Results) -> list[Picture]:
    """The figures of one set of rows."""
    return [Picture(as_svg(figure), CAPTIONS[name]) for name, figure in of_run(results).items()]


def scaling_pictures(scaling: Scaling) -> list[Picture]:
    """One figure for each source of confidence."""
    return [
        Picture(as_svg(scaling_curves(scaling, source)), SCALING_CAPTION.format(source=source))
        for source in scaling.curves
    ]


def paper_cell(table: PaperTable, model: str, name: str) -> str:
    """One figure of the paper, or a dash where its table has none."""
    return f"{table.rows[model][table.columns.index(name)]:.3f}" if name in table.columns else "–"


def flat(manifest: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """The run manifest as names and values."""
    lines: list[tuple[str, str]] = []
    for name, value in manifest.items():
        if isinstance(value, dict) and value:
            lines += flat(value, f"{prefix}{name}.")
        elif value not in (None, {}, []):
            lines.append((f"{prefix}{name}", str(value)))
    return lines


def has(columns: Sequence[tuple[str, Results]], name: str) -> bool:
    """Whether any of these runs has this figure."""
    return any(name in results.figures for _, results in columns)


def cut(text: str | None) -> str:
    """A response short enough for the page."""
    text = text or ""
    return (
        text
        if len(text) <= LONGEST_SHOWN
        else f"{text[:LONGEST_SHOWN]}\n[{len(text) - LONGEST_SHOWN:,} more characters]"
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("demur.evaluation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    formatters = (
        value_of,
        interval_of,
        bound_of,
        verdict_of,
        counts_of,
        lines_of,
        paper_cell,
        telling,
        verdict_on,
        stated,
        pictures,
        scaling_pictures,
        flat,
        has,
        cut,
    )
    environment.globals.update({formatter.__name__: formatter for formatter in formatters})
    environment.globals.update(ARROWS=ARROWS, OBJECTIVES=OBJECTIVES)
    return environment
