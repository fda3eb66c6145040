"""Settings that are written as text on the command line."""

import json
from typing import Any

from demur.evaluation.errors import EvaluationError


def thresholds(text: str) -> tuple[float, ...]:
    """The grid of risk thresholds t from "0,0.5,0.9". Raises EvaluationError unless all are numbers in [0, 1]."""
    try:
        grid = tuple(sorted({float(part) for part in text.split(",")}))
    except ValueError:
        raise EvaluationError(f"--risk-thresholds {text!r}: write numbers with commas between") from None
    if not all(0 <= t <= 1 for t in grid):
        raise EvaluationError(f"--risk-thresholds {text!r}: each must be in [0, 1]")
    return grid


def json_object(text: str | None, option: str) -> dict[str, Any]:
    """A JSON object from the command line, empty for None. Raises EvaluationError, which names the option, for text
    that is none."""
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise EvaluationError(f"{option}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise EvaluationError(f"{option}: must be a JSON object")
    return value
