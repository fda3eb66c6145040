"""`demur calibrate`: graded answers in, a calibrator file and its page out."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.calibration.check_installed import check_installed
from demur.calibration.errors import CalibrationError
from demur.calibration.options import AskOptions, FeedbackOptions, FitOptions
from demur.dataclass_options import with_options
from demur.evaluation.commands import console, one_line_errors

if TYPE_CHECKING:
    from demur.calibration.calibrate import Calibrated, Options
    from demur.calibration.graded_source import GradedSource


@with_options
def calibrate(
    graded: Annotated[
        Path | None,
        typer.Argument(
            metavar="ROWS|RUN",
            help='Graded rows with "problem", "correct" and "signals" or "confidence" (JSON Lines, CSV, Parquet; "-" is'
            " standard input), or the folder of a demur evaluate run.",
        ),
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="The calibrator file; its page is written beside it as .html.")],
    asking: AskOptions,
    feedback: FeedbackOptions,
    fitting: FitOptions,
    as_json: Annotated[bool, typer.Option("--json", help="Print the calibrator instead of tables.")] = False,
) -> None:
    """Fit a calibrator on graded answers, and certify thresholds on them.

    Fits a map from what is known about an answer to P(right), shows what it changes on answers it never saw, and finds
    for each error rate the lowest threshold that keeps it. 200 to 1,000 answers of the kind you will ask make useful
    promises; at least 50 are needed. No question or answer is written.

    Rows may also have "sample" and "claim" (whole numbers), "group" (the kind of question, which is listed) and
    "question" (to notice one question under two ids).
    """
    check_installed()
    with one_line_errors():
        page, options = _page_beside(out), fitting.resolved()
        _check_one_source(graded, asking, feedback, fitting)
        if asking.ask is not None:
            graded = _answered(asking.ask, out, asking)
        source, options = _read(graded, feedback, fitting, options)
        found = _fitted(source, options, str(graded or feedback.feedback))
        _write(found, out, page)
    _show(found, as_json)
    typer.echo(f"wrote {out} and {page}", err=True)


def _check_one_source(graded: Path | None, asking: AskOptions, feedback: FeedbackOptions, fitting: FitOptions) -> None:
    if graded is not None and asking.ask is not None:
        raise typer.BadParameter("give rows or --ask, not both", param_hint="--ask")
    if (graded is None and asking.ask is None) == (feedback.feedback is None):
        raise typer.BadParameter("give graded rows, a run, --ask or --feedback: one of them", param_hint="ROWS|RUN")
    if fitting.samples is not None and graded is None:
        raise typer.BadParameter("it needs the folder of a run with several samples a question", param_hint="--samples")


def _answered(questions: Path, out: Path, asking: AskOptions) -> Path:
    """The folder of the run that answers the questions, beside the calibrator file."""
    from demur.calibration.ask_and_grade import ask_and_grade

    return ask_and_grade(
        questions,
        out.with_suffix(".run"),
        base_url=asking.base_url,
        api_key=asking.api_key,
        contract=asking.contract,
        signals=asking.include_signals,
    )


def _read(
    graded: Path | None, feedback: FeedbackOptions, fitting: FitOptions, options: "Options"
) -> "tuple[GradedSource, Options]":
    """The graded rows; and the options, in which grades that a server collected count as one more look at them."""
    from demur.calibration.graded_source import read_source

    typer.echo(f"reading {graded or feedback.feedback}", err=True)
    if feedback.feedback is None:
        return read_source(graded or Path(), fitting.level, fitting.voting), options
    source, look = _collected(feedback.feedback, feedback, fitting)
    return source, replace(options, look=max(options.look, look))


def _collected(place: str, feedback: FeedbackOptions, fitting: FitOptions) -> "tuple[GradedSource, int]":
    """Graded rows of a server or its database, and which look at them this is."""
    from demur.feedback.refitting import read_refit, source_of, told

    refit = read_refit(place, feedback.since_seconds, fitting.level or "response", judge=not feedback.no_judge)
    typer.echo(told(refit), err=True)
    return source_of(refit, split=fitting.splits, raw=fitting.raw is not None), refit["look"]


def _fitted(source: "GradedSource", options: "Options", where: str) -> "Calibrated":
    from demur.calibration.calibrate import calibrate as fit_and_certify

    typer.echo(f"fitting and judging maps on {len(source.rows.rows):,} rows", err=True)
    return fit_and_certify(source, options, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), where)


def _write(found: "Calibrated", out: Path, page: Path) -> None:
    from demur.calibration.calibrator_file import write
    from demur.calibration.report.page import write_page

    write(out, found.calibrator)
    write_page(page, found)


def _show(found: "Calibrated", as_json: bool) -> None:
    from demur.calibration.tables import show

    if as_json:
        typer.echo(json.dumps(found.calibrator.model_dump(mode="json"), indent=1, ensure_ascii=False))
    else:
        show(console(), found)


def _page_beside(out: Path) -> Path:
    """Where the page goes. Raises CalibrationError where it would overwrite the calibrator, or `out` is a folder."""
    page = out.with_suffix(".html")
    if out.is_dir() or page == out:
        raise CalibrationError(f"--out: {out} must be the name of a file such as calibrator.json")
    return page
