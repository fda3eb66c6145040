"""The rewards: what a stated confidence, an answer or an abstention earns (arXiv:2512.19920, sections 3.2 and 3.3).

`valid` says whether the answer was correct, `confidence` and `risk_threshold` are in [0, 1]; ValueError is raised for
NaN or a number outside. Every rule is a pure function of floats. Which text counts as overlong, as a violation or as
an abstention is not decided here:
an overlong output is scored as `confidence=0, valid=False` (or abstained), a violation as `confidence=1, valid=False`.
"""

import math

EPS = 0.01
"""Outside [EPS, 1 - EPS] the cross-entropy reward is flat, which bounds it."""


def binary(valid: bool) -> float:
    """+1 for a correct answer, -1 for a wrong one. It rewards guessing: no confidence enters."""
    return 1.0 if valid else -1.0


def explicit_risk(valid: bool, risk_threshold: float, abstained: bool, *, bounded: bool = False) -> float:
    """What answering or abstaining earns when the risk threshold t was told in the prompt.

    Unbounded: 1 right, 0 abstained, -t/(1-t) wrong, so answering pays exactly when P(right) > t; needs t < 1.
    Bounded, for every t in [0, 1]: 1 right, 2t-1 abstained, -1 wrong; the same decision is optimal.
    Raises ValueError when t is outside its range.
    """
    _check("risk_threshold", risk_threshold)
    if bounded:
        return 2.0 * risk_threshold - 1.0 if abstained else binary(valid)
    if risk_threshold == 1.0:
        raise ValueError("risk_threshold must be below 1: the penalty t/(1-t) has no bound there")
    if abstained:
        return 0.0
    return 1.0 if valid else -risk_threshold / (1.0 - risk_threshold)


def brier(confidence: float, valid: bool) -> float:
    """The bounded risk reward averaged over t uniform on [0, 1]: 2pv - p², which is v - (p - v)². In [-1, 1]."""
    _check("confidence", confidence)
    return 2.0 * confidence * valid - confidence * confidence


def cross_entropy(confidence: float, valid: bool, eps: float = EPS) -> float:
    """The bounded risk reward averaged over t with density proportional to 1/(t(1-t)) on (eps, 1-eps). In [-1, 1].

    It weighs the ends of the risk spectrum: confident and wrong, or diffident and right, costs most.
    Raises ValueError unless 0 < eps < 1/2.
    """
    _check("confidence", confidence)
    if not 0.0 < eps < 0.5:
        raise ValueError(f"eps must lie between 0 and 1/2, got {eps}")
    clipped = min(max(confidence, eps), 1.0 - eps)
    gain = math.log(clipped / eps) if valid else math.log((1.0 - clipped) / (1.0 - eps))
    return gain / math.log((1.0 - eps) / eps)


def overlong_penalty(tokens: int, limit: int, buffer: int, factor: float = 1.0) -> float:
    """Soft penalty for length: 0 up to `limit - buffer` tokens, then falling linearly to -factor at `limit`.

    Added once to the score of an output of `tokens` tokens, which generation cuts at `limit`: beyond it the penalty
    would go on falling. Raises ValueError unless 0 < buffer <= limit. Reference: arXiv:2503.14476, section 3.4.
    """
    if not 0 < buffer <= limit:
        raise ValueError(f"the overlong buffer must lie in 1..{limit} tokens, got {buffer}")
    return min(0.0, -(tokens - (limit - buffer)) / buffer) * factor


def _check(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:  # also refuses NaN, which would poison a whole batch of advantages
        raise ValueError(f"{name} must lie in [0, 1], got {value}")
