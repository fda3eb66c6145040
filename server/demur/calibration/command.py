"""`demur calibrate`: graded answers in, a calibrator file and its page out."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from demur.calibration.installed import check_installed
from demur.cli_options import key_option
from demur.core.contracts import CONTRACTS
from demur.evaluation.commands import console, one_line_errors
from demur.evaluation.rows import Level

if TYPE_CHECKING:
    from demur.calibration.run import Source

DEFAULT_LEVELS = "0.01,0.02,0.05,0.1,0.15,0.2,0.3"


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
    ask: Annotated[
        Path | None,
        typer.Option(
            metavar="QUESTIONS",
            help="In place of rows: ask a server these questions and grade the answers, as demur evaluate does. Run"
            " again to go on where it stopped.",
        ),
    ] = None,
    base_url: Annotated[
        str, typer.Option(help="With --ask: the demur server.", envvar="DEMUR_BASE_URL")
    ] = "http://127.0.0.1:8000",
    api_key: Annotated[
        str | None, typer.Option(help="With --ask: better set DEMUR_API_KEY.", envvar="DEMUR_API_KEY")
    ] = None,
    contract: Annotated[str, key_option(CONTRACTS, help="With --ask: what the model is asked to print.")] = "response",
    include_signals: Annotated[
        str | None,
        typer.Option(help="With --ask: signals to calibrate on beside the stated confidence, commas between."),
    ] = None,
    feedback: Annotated[
        str | None,
        typer.Option(
            metavar="URL|FILE",
            help="In place of rows: what a server's answers were graded; its address, or its --feedback-db.",
        ),
    ] = None,
    since: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="With --feedback: leave older answers out.")
    ] = None,
    parent: Annotated[Path | None, typer.Option(help="The calibrator that the new one follows.")] = None,
    max_error: Annotated[
        str, typer.Option(help="Error rates to certify, to be named before the grades are seen.")
    ] = DEFAULT_LEVELS,
    delta: Annotated[
        float, typer.Option(help="Chance, over the choice of graded answers, that a promise is false.")
    ] = 0.1,
    certify: Annotated[
        Literal["split", "cross-fit"],
        typer.Option(
            help="split: 40 % of the problems make the map, the others certify it: exact. cross-fit: all do both: more"
            " coverage, an approximate promise."
        ),
    ] = "split",
    raw: Annotated[
        str | None,
        typer.Option(metavar="SIGNAL", help="Make no map; certify this signal as it is, on all rows: exact."),
    ] = None,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="All error rates hold together, not each by itself.")
    ] = False,
    look: Annotated[
        int,
        typer.Option(
            min=0,
            max=50,
            help="0: the number of graded answers was fixed beforehand. K: try number K while more are being graded;"
            " delta is divided by 2^K.",
        ),
    ] = 0,
    level: Annotated[
        Level | None, typer.Option(help="Which rows, where both kinds are there: whole answers or claims.")
    ] = None,
    questions: Annotated[
        str | None,
        typer.Option(
            help='What the graded questions are, in a few words: "sums and stories". Named with each promise.'
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the split, the folds and the bootstrap.")] = 0,
    resamples: Annotated[int, typer.Option(min=100, help="Behind the intervals of the figures.")] = 1000,
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
    from demur.calibration.calibrating import Options
    from demur.calibration.calibrating import calibrate as make
    from demur.calibration.file import read, write
    from demur.calibration.report.page import write_page
    from demur.calibration.run import read_source
    from demur.calibration.tables import show

    with one_line_errors():
        levels = levels_of(max_error)
        check_delta(delta)
        page = page_beside(out)
        before = None if parent is None else read(parent).id
        if ask is not None:
            server = {"base_url": base_url, "api_key": api_key, "contract": contract, "signals": include_signals}
            graded = asked(ask, graded, out, **server)
        if (graded is None) == (feedback is None):
            raise typer.BadParameter("give graded rows, a run, --ask or --feedback: one of them", param_hint="ROWS|RUN")
        typer.echo(f"reading {graded or feedback}", err=True)
        if feedback is not None:
            source, look = from_feedback(
                feedback, since, look, split=certify == "split" and raw is None, level=level or "response"
            )
        else:
            source = read_source(graded or Path(), level)
        typer.echo(f"fitting and judging maps on {len(source.rows.rows):,} rows", err=True)
        options = Options(levels, delta, certify, raw, simultaneous, look, seed, resamples, questions, before)
        found = make(source, options, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), str(graded or feedback))
        write(out, found.calibrator)
        write_page(page, found)
    if as_json:
        typer.echo(json.dumps(found.calibrator.model_dump(mode="json"), indent=1, ensure_ascii=False))
    else:
        show(console(), found)
    typer.echo(f"wrote {out} and {page}", err=True)


def from_feedback(
    place: str, since: datetime | None, look: int, *, split: bool, level: Level = "response"
) -> "tuple[Source, int]":
    """Graded rows of a server or its database, and which look at them this is."""
    from demur.feedback.refitting import read_refit, source_of, told

    refit = read_refit(place, 0.0 if since is None else since.replace(tzinfo=UTC).timestamp(), level)
    typer.echo(told(refit), err=True)
    return source_of(refit, split=split), max(look, refit["look"])


def asked(questions: Path, graded: Path | None, out: Path, **server: Any) -> Path:
    """The folder of the run that answers the questions, beside the calibrator file."""
    from demur.calibration.asking import ask_and_grade

    if graded is not None:
        raise typer.BadParameter("give rows or --ask, not both", param_hint="--ask")
    return ask_and_grade(questions, out.with_suffix(".run"), **server)


def levels_of(text: str) -> tuple[float, ...]:
    """Error rates from a list with commas, ascending. Raises CalibrationError."""
    from demur.calibration.errors import CalibrationError

    levels: set[float] = set()
    for part in text.split(","):
        try:
            rate = float(part)
        except ValueError:
            raise CalibrationError(f"--max-error: {part.strip()!r} is no number; write 0.05,0.1,0.2") from None
        if not 0 < rate < 1:
            hint = f"; did you mean {rate / 100:g}?" if 1 <= rate < 100 else ""
            raise CalibrationError(f"--max-error: {part.strip()} must lie between 0 and 1{hint}")
        levels.add(rate)
    return tuple(sorted(levels))


def check_delta(delta: float) -> None:
    """Raise CalibrationError for a delta that is no small probability."""
    from demur.calibration.errors import CalibrationError

    if not 0 < delta <= 0.5:
        raise CalibrationError(f"--delta: {delta:g} must be above 0 and at most 0.5")


def page_beside(out: Path) -> Path:
    """Where the page goes. Raises CalibrationError where it would overwrite the calibrator, or `out` is a folder."""
    from demur.calibration.errors import CalibrationError

    page = out.with_suffix(".html")
    if out.is_dir() or page == out:
        raise CalibrationError(f"--out: {out} must be the name of a file such as calibrator.json")
    return page
