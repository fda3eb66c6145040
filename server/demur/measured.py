"""What a manifest tells whoever tries the model: questions that show what it does, and how far its numbers were true.

Both are plain numbers and text that the web page shows. `python -m bench examples` measures them and writes them.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from demur.core.answers import Granularity
from demur.core.contracts import CONTRACTS
from demur.field_types import KeyOf

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Shows = Literal["answer", "abstain", "doubt"]
"""An answer with no step below the threshold, an abstention, or an answer with a step below it."""
MAX_POINTS = 101


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("has characters that cannot be printed")
    return text


Line = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_one_line)]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Example(_Value):
    """A question to try, how to ask it, and what the model then shows, in `share` of `draws` samples."""

    question: Line
    contract: Annotated[str, KeyOf(CONTRACTS)]
    granularity: Granularity | None = None
    risk_threshold: Share
    shows: Shows
    answer: Line | None = None
    """The right one, where it is part of what is shown that the model knows it."""
    draws: Annotated[int, Field(ge=0)] = 0
    share: Share | None = None


class Interval(_Value):
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float


class AtThreshold(_Value):
    """At a risk threshold: the share of all questions that is answered, and the share of the answered that is right."""

    risk_threshold: Share
    answered: Share
    right: Share | None


class Bin(_Value):
    """Of the answers whose confidence lies in one tenth: how many, their mean confidence, the share that is right."""

    answers: Annotated[int, Field(ge=1)]
    confidence: Share
    right: Share


class Measured(_Value):
    """How far the confidences of whole answers under one contract were true, on graded questions `on`, at `date`."""

    on: Line
    date: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    answers: Annotated[int, Field(ge=1)]
    auc: Interval | None = None
    smece: Interval | None = None
    thresholds: Annotated[tuple[AtThreshold, ...], Field(max_length=MAX_POINTS)] = ()
    reliability: Annotated[tuple[Bin, ...], Field(max_length=MAX_POINTS)] = ()
