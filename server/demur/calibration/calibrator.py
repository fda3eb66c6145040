"""A calibrator: the map from signals to P(correct), what it was made from, what it applies to, what it promises.

Strict pydantic models of the file's JSON, format 1; nothing in it is text of questions or answers.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from demur.core.answers import Aggregation, Granularity
from demur.core.calibration.maps import Identity, Isotonic, Logistic, Map, never_missing
from demur.core.calibration.signals import Floats
from demur.core.contracts import CONTRACTS
from demur.field_types import KeyOf

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
"""Of a signal."""
Line = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""A name that is shown on terminals."""
Unit = Annotated[float, Field(ge=0, le=1)]
Inner = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=0)]
Value = bool | int | float | Line | None


class Part(BaseModel):
    """Strict: no field too many, no number as text, nothing infinite."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Model(Part):
    """The model the graded answers came from."""

    name: Line | None
    fingerprint: Line | None


class IdentityMap(Part):
    """One signal as it is."""

    kind: Literal["identity"]
    signal: Name


class LogisticMap(Part):
    """Logistic regression on the log odds of the signals, in their order."""

    kind: Literal["logistic"]
    intercept: float
    weights: tuple[float, ...]
    missing: tuple[float, ...]

    def built(self) -> Logistic:
        """The map itself. Raises ValueError for numbers that make none."""
        return Logistic(self.intercept, self.weights, self.missing)


class IsotonicMap(Part):
    """An isotonic curve over a logistic map."""

    kind: Literal["isotonic"]
    score: LogisticMap
    x: tuple[float, ...]
    y: tuple[float, ...]


class Figure(Part):
    """A figure and its 95 % interval; null ends where there is none."""

    value: float
    low: float | None
    high: float | None


class Certification(Part):
    """How the thresholds were certified. `exact` is false where the promise is approximate.

    `rows` are independent rows, one a problem. `look` counts the tries while more answers were graded, 0 where their
    number was fixed beforehand.
    """

    mode: Literal["split", "cross-fit", "raw"]
    exact: bool
    rows: Count
    delta: Inner
    simultaneous: bool
    look: Count
    seed: Count


class Guarantee(Part):
    """At most `max_error` of the answers with confidence >= `threshold` are wrong, with probability 1 - `delta`.

    `delta` is what this test alone was given. Of levels that hold together, and of several looks, the calibrator's
    `certification.delta` is the chance that any of them is false: people are told that. `threshold` is null where
    nothing could be certified, and `reason` says why.
    """

    max_error: Inner
    delta: Inner
    threshold: Unit | None
    answered: Count
    wrong: Count
    coverage: Unit
    reason: Annotated[str, StringConstraints(max_length=500)] | None

    @model_validator(mode="after")
    def _reason_without_threshold(self) -> Self:
        if (self.threshold is None) != (self.reason is not None):
            raise ValueError("threshold is null exactly where reason says why")
        if self.wrong > self.answered:
            raise ValueError("wrong is above answered")
        return self


class Group(Part):
    """One kind of question among the rows: how many, the share that is right, and the mean confidence."""

    rows: Count
    right: Unit
    confidence: Unit | None


class Calibrator(Part):
    """A calibrator: the map, what it was made from, what it may be applied to, and what it promises.

    `level` says whether rows were whole answers or claims, `questions` in a few words what was asked. `sampling` holds
    every field of the request that changes what is drawn; null is the server's default.
    """

    format: Literal[1]
    id: Annotated[str, StringConstraints(pattern=r"^cal_[0-9A-Z]{26}$")]
    parent: Annotated[str, StringConstraints(pattern=r"^cal_[0-9A-Z]{26}$")] | None
    made: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    digest: str
    model: Model | None
    level: Literal["response", "claims"]
    contract: Annotated[str, KeyOf(CONTRACTS)] | None
    questions: Line | None = None
    prompt: Line | None
    granularity: Granularity | None
    aggregation: Aggregation | None
    sampling: Mapping[Line, Value]
    signals: Annotated[tuple[Name, ...], Field(min_length=1, max_length=32)]
    map: Annotated[IdentityMap | LogisticMap | IsotonicMap, Field(discriminator="kind")]
    rows: Count
    problems: Count
    before: Mapping[Name, Figure | None]
    after: Mapping[Name, Figure | None]
    certification: Certification
    guarantees: tuple[Guarantee, ...]
    smallest_max_error: Inner | None
    groups: Mapping[Line, Group]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if len(set(self.signals)) != len(self.signals):
            raise ValueError("signals: one is named twice")
        self.built()(np.full((1, len(self.signals)), np.nan))
        levels = [guarantee.max_error for guarantee in self.guarantees]
        if levels != sorted(set(levels)):
            raise ValueError("guarantees: max_error has to rise")
        return self

    def built(self) -> Map:
        """The map as the core applies it. Raises ValueError for numbers that make none."""
        if isinstance(self.map, IdentityMap):
            if self.map.signal not in self.signals:
                raise ValueError(f"map.signal: {self.map.signal} is not among the signals")
            return Identity(self.signals.index(self.map.signal))
        if isinstance(self.map, LogisticMap):
            return self.map.built()
        return Isotonic(self.map.score.built(), self.map.x, self.map.y)

    def confidence(self, signals: Floats) -> Floats:
        """P(correct) of answers (n, k), columns as in `signals`; NaN where every signal that counts is missing, or one
        that no graded answer lacked: a map says nothing of that, and would take it for an even chance."""
        built = self.built()
        unknown = np.isnan(signals[:, list(never_missing(built))]).any(axis=1)
        return np.where(unknown, np.nan, built(signals))

    def guarantee_for(self, max_error: float) -> Guarantee | None:
        """The one that serves a request: the greatest certified level not above what it asks, else None."""
        held = [g for g in self.guarantees if g.threshold is not None and g.max_error <= max_error]
        return held[-1] if held else None
