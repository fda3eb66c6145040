"""Claim confidences -> one response confidence (arXiv:2512.19920, section 3.3.1)."""

import math
from collections.abc import Callable, Sequence

from demur.core.answers import Aggregation, ParsedConfidence

AGGREGATIONS: dict[Aggregation, Callable[[Sequence[float]], float]] = {"min": min, "product": math.prod}


def aggregate(confidences: Sequence[float | None], how: Aggregation = "min") -> ParsedConfidence:
    """The response confidence that follows from its claims, each in [0, 1] or None where it could not be read.

    No claim at all is "missing": an empty product is not certainty. One claim without a confidence makes the whole
    "invalid", since the weakest step may be the one nobody can see.
    """
    known = [p for p in confidences if p is not None]
    if len(known) < len(confidences):
        return ParsedConfidence("invalid", None, ("claim_confidence_invalid",))
    if not known:
        return ParsedConfidence("missing", None, ("no_claims",))
    return ParsedConfidence("value", AGGREGATIONS[how](known))
