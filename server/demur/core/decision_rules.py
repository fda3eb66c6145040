"""When an output that has an answer is given, and when it is withheld: the rules a contract can choose from."""

from typing import Literal

from demur.core.answers import Completion, Decision, Granularity, ParsedConfidence, Reason

ANSWER = Decision("answer")


def by_confidence(completion: Completion, stated: ParsedConfidence, t: float, granularity: Granularity) -> Decision:
    """Abstain if and only if the confidence is below the risk threshold t in [0, 1] (arXiv:2512.19920, section 3.2.2).

    At granularity "claims" doubt is shown claim by claim, so an output is given if it has readable claims. At t = 0
    the caller takes every risk: a confidence that cannot be read answers.
    """
    if granularity == "claims":
        return ANSWER if completion.claims else unreadable("missing")
    if t <= 0:
        return ANSWER
    if stated.value is None:
        return unreadable("invalid" if stated.state == "invalid" else "missing")
    return ANSWER if stated.value >= t else Decision("abstain", "below_threshold")


def by_fields(completion: Completion, stated: ParsedConfidence, t: float, granularity: Granularity) -> Decision:
    """At granularity "claims" each value carries its own confidence, so every document is given, also one without
    any value; else `by_confidence`, where a document without any value has no doubt in it."""
    if granularity == "claims" or not completion.fields:
        return ANSWER
    return by_confidence(completion, stated, t, granularity)


def as_the_model_decided(
    completion: Completion, stated: ParsedConfidence, t: float, granularity: Granularity
) -> Decision:
    """Give every answer: the prompt told the model the threshold, and the model did not decline (section 3.2.1)."""
    return ANSWER


def unreadable(state: Literal["missing", "invalid"]) -> Decision:
    """Abstain because there is no confidence, or none that is a probability."""
    reason: Reason = "confidence_invalid" if state == "invalid" else "confidence_missing"
    return Decision("abstain", reason)
