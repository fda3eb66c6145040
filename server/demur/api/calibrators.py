"""What `GET /v1/models` says of the calibrators that a server holds."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from demur.calibration.calibrator import Calibrator, Figure
from demur.calibration.matching import ServedCalibrator
from demur.calibration.store import CalibratorStore


class Level(BaseModel):
    """An error rate that can be asked for as `max_error`."""

    max_error: float
    threshold: float
    expected_coverage: float = Field(description="Share of the graded answers that the threshold lets through.")


class FigureCard(BaseModel):
    """A figure with its 95 % interval."""

    value: float
    low: float | None
    high: float | None


class CalibratorCard(BaseModel):
    """One calibrator: what it is for, how good it is on answers that it never saw, and what it promises."""

    id: str
    contract: str | None
    granularity: Literal["response", "claims"]
    signals: list[str]
    samples: int = Field(description="How many samples each graded answer was chosen among.")
    selection: str | None = Field(description="How it was chosen among them; null for one sample.")
    stopping: str | None = Field(description="Whether a vote stopped early; null for one sample.")
    questions: str | None = Field(description="What the graded questions were, in a few words.")
    rows: int
    problems: int
    made: str
    age_seconds: int
    fits: bool = Field(description="Whether it was made for the served model; otherwise it is never applied.")
    reason: str | None = Field(description="Why it does not fit.")
    before: dict[str, FigureCard | None] = Field(description="Figures of the raw number, on rows the map never saw.")
    after: dict[str, FigureCard | None] = Field(description="The same of the calibrated one.")
    exact: bool = Field(description="False: the levels hold approximately and are no promise.")
    delta: float = Field(description="Chance, over the choice of graded answers, that a level does not hold.")
    levels: list[Level]
    smallest_max_error: float | None = Field(description="The least of the levels; null where none is certified.")


def cards(store: CalibratorStore, now: float) -> list[CalibratorCard]:
    """The calibrators of a server as `GET /v1/models` shows them, in the order in which they are tried. `now` is in
    seconds since 1970."""
    return [_card(one, store.fingerprint, now) for one in store.loaded]


def _card(served: ServedCalibrator, fingerprint: str, now: float) -> CalibratorCard:
    c: Calibrator = served.calibrator
    reason = served.other_model(fingerprint)
    return CalibratorCard(
        id=c.id,
        contract=c.contract,
        granularity=c.level,
        signals=list(c.signals),
        samples=served.samples,
        selection=_word(c.sampling.get("selection")),
        stopping=_word(c.sampling.get("stopping")),
        questions=c.questions,
        rows=c.rows,
        problems=c.problems,
        made=c.made,
        age_seconds=max(0, int(now - datetime.fromisoformat(c.made).timestamp())),
        fits=reason is None,
        reason=reason,
        before=_figures(c.before),
        after=_figures(c.after),
        exact=c.certification.exact,
        delta=c.certification.delta,
        levels=[
            Level(max_error=g.max_error, threshold=g.threshold or 0.0, expected_coverage=g.coverage)
            for g in served.guarantees(1.0)
        ],
        smallest_max_error=served.smallest_level,
    )


def _figures(figures: Mapping[str, Figure | None]) -> dict[str, FigureCard | None]:
    return {
        name: None if figure is None else FigureCard(value=figure.value, low=figure.low, high=figure.high)
        for name, figure in figures.items()
    }


def _word(value: object) -> str | None:
    return None if value is None else str(value)
