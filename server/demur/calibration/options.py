"""The options of `demur calibrate`, and what they come to."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from demur.calibration.errors import CalibrationError
from demur.cli_options import key_option
from demur.core.contracts import CONTRACTS
from demur.core.selection import RULES
from demur.evaluation.rows import Level

if TYPE_CHECKING:
    from demur.calibration.calibrate import Options
    from demur.calibration.votes import Voting

DEFAULT_LEVELS = "0.01,0.02,0.05,0.1,0.15,0.2,0.3"


@dataclass(frozen=True, slots=True)
class AskOptions:
    """A server to ask in place of graded rows, and how."""

    ask: Annotated[
        Path | None,
        typer.Option(
            metavar="QUESTIONS",
            help="In place of rows: ask a server these questions and grade the answers, as demur evaluate does. Run"
            " again to go on where it stopped.",
        ),
    ] = None
    base_url: Annotated[str, typer.Option(help="With --ask: the demur server.", envvar="DEMUR_BASE_URL")] = (
        "http://127.0.0.1:8000"
    )
    api_key: Annotated[
        str | None, typer.Option(help="With --ask: better set DEMUR_API_KEY.", envvar="DEMUR_API_KEY")
    ] = None
    contract: Annotated[str, key_option(CONTRACTS, help="With --ask: what the model is asked to print.")] = "response"
    include_signals: Annotated[
        str | None,
        typer.Option(help="With --ask: signals to calibrate on beside the stated confidence, commas between."),
    ] = None


@dataclass(frozen=True, slots=True)
class FeedbackOptions:
    """Grades that a server has collected, in place of graded rows."""

    feedback: Annotated[
        str | None,
        typer.Option(
            metavar="URL|FILE",
            help="In place of rows: what a server's answers were graded; its address, or its --feedback-db.",
        ),
    ] = None
    since: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="With --feedback: leave older answers out.")
    ] = None
    no_judge: Annotated[
        bool,
        typer.Option(
            "--no-judge",
            help="With --feedback: leave out what a judge graded, so that only people and known answers count.",
        ),
    ] = False

    @property
    def since_seconds(self) -> float:
        """The time from which on answers are taken, in seconds since 1970; 0 takes every answer."""
        return 0.0 if self.since is None else self.since.replace(tzinfo=UTC).timestamp()


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How the map is fitted and its thresholds are certified, as the command line says it."""

    parent: Annotated[Path | None, typer.Option(help="The calibrator that the new one follows.")] = None
    max_error: Annotated[str, typer.Option(help="Error rates to certify, to be named before the grades are seen.")] = (
        DEFAULT_LEVELS
    )
    delta: Annotated[
        float, typer.Option(help="Chance, over the choice of graded answers, that a promise is false.")
    ] = 0.1
    certify: Annotated[
        Literal["split", "cross-fit"],
        typer.Option(
            help="split: 40 % of the problems make the map, the others certify it: exact. cross-fit: all do both: more"
            " coverage, an approximate promise."
        ),
    ] = "split"
    raw: Annotated[
        str | None,
        typer.Option(metavar="SIGNAL", help="Make no map; certify this signal as it is, on all rows: exact."),
    ] = None
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="All error rates hold together, not each by itself.")
    ] = False
    look: Annotated[
        int,
        typer.Option(
            min=0,
            max=50,
            help="0: the number of graded answers was fixed beforehand. K: try number K while more are being graded;"
            " delta is divided by 2^K.",
        ),
    ] = 0
    level: Annotated[
        Level | None, typer.Option(help="Which rows, where both kinds are there: of whole answers or of claims.")
    ] = None
    samples: Annotated[
        int | None,
        typer.Option(
            min=2,
            max=1024,
            help="Calibrate the votes of so many samples: of a run with that many samples a question or more, made"
            " without --selection.",
        ),
    ] = None
    selection: Annotated[str, key_option(RULES, help="With --samples: how the vote chooses.")] = "majconf"
    questions: Annotated[
        str | None,
        typer.Option(
            help='What the graded questions are, in a few words: "sums and stories". Named with each promise.'
        ),
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Of the split, the folds and the bootstrap.")] = 0
    resamples: Annotated[int, typer.Option(min=100, help="Behind the intervals of the figures.")] = 1000

    @property
    def voting(self) -> "Voting | None":
        """The vote that is calibrated; None for answers as the rows have them."""
        from demur.calibration.votes import Voting

        return None if self.samples is None else Voting(self.samples, self.selection)

    @property
    def splits(self) -> bool:
        """Whether some rows make the map and the others certify it."""
        return self.certify == "split" and self.raw is None

    def resolved(self) -> "Options":
        """The same with error rates as numbers and the parent as its id.

        Raises CalibrationError for an error rate outside (0, 1), a delta outside (0, 0.5] or a parent that cannot be
        read.
        """
        from demur.calibration.calibrate import Options
        from demur.calibration.calibrator_file import read

        return Options(
            levels=levels_of(self.max_error),
            delta=_small_probability(self.delta),
            certify=self.certify,
            raw=self.raw,
            simultaneous=self.simultaneous,
            look=self.look,
            seed=self.seed,
            resamples=self.resamples,
            questions=self.questions,
            parent=None if self.parent is None else read(self.parent).id,
        )


def levels_of(text: str) -> tuple[float, ...]:
    """Error rates from a list with commas, ascending, each once. Raises CalibrationError unless each lies in (0, 1)."""
    return tuple(sorted({_level_of(part.strip()) for part in text.split(",")}))


def _level_of(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        raise CalibrationError(f"--max-error: {text!r} is no number; write 0.05,0.1,0.2") from None
    if not 0 < rate < 1:
        hint = f"; did you mean {rate / 100:g}?" if 1 <= rate < 100 else ""
        raise CalibrationError(f"--max-error: {text} must lie between 0 and 1{hint}")
    return rate


def _small_probability(delta: float) -> float:
    if not 0 < delta <= 0.5:
        raise CalibrationError(f"--delta: {delta:g} must be above 0 and at most 0.5")
    return delta
