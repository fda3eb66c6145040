"""A figure with its interval, or the reason why there is none."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from demur.core.metrics.bootstrap import interval
from demur.core.metrics.rows import Floats


class EstimateDict(TypedDict):
    """The wire form of a figure that has a value."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """`value` and the ends of its 95 % interval; None where undefined, and then `reason` says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def as_dict(self) -> EstimateDict | None:
        """The wire form: {"value", "low", "high"}, or null where there is no value."""
        if self.value is None:
            return None
        return {"value": self.value, "low": self.low, "high": self.high}


def figures_as_dict(figures: Mapping[str, Estimate]) -> dict[str, Any]:
    """The wire form of several figures, with "reasons" by name where a value or an interval is null."""
    wire: dict[str, Any] = {name: figure.as_dict() for name, figure in figures.items()}
    reasons = {name: figure.reason for name, figure in figures.items() if figure.reason is not None}
    return {**wire, "reasons": reasons} if reasons else wire


class Shape(TypedDict, total=False):
    """How an interval is made: `reflect` as in `interval`, `bounds` that the figure cannot leave."""

    reflect: bool
    bounds: tuple[float, float]


def estimate(exact: Floats, observed: Floats, replicates: Floats, **shape: Unpack[Shape]) -> Estimate:
    """One number with its interval. The caller has made sure that `exact` is finite."""
    floor, ceiling = shape.get("bounds", (-math.inf, math.inf))
    ends = interval(exact, observed, replicates, reflect=shape.get("reflect", False))
    low, high = (min(max(float(end), floor), ceiling) for end in ends)
    if not (math.isfinite(low) and math.isfinite(high)):
        return Estimate(float(exact), reason="no interval: undefined in too many resamples")
    return Estimate(float(exact), low, high)
