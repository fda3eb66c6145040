"""The caller's risk threshold t: answer or abstain, assert or highlight (paper section 3.2.2).

Abstain if and only if p < t, so a tie answers. The paper's introduction has the inequality the other way round in
one place; its method section is what holds.
"""

from demur.core.answers import Claim, ClaimDecision, Completion, Decision, Granularity, Reading, Reason

ANSWER = Decision("answer")


def decide_claim(confidence: float | None, t: float) -> ClaimDecision:
    """A claim without a readable confidence is highlighted whatever t is: nothing vouches for it."""
    return "highlight" if confidence is None or confidence < t else "assert"


def decide(
    completion: Completion,
    t: float,
    *,
    granularity: Granularity = "response",
    confidence: Reading | None = None,
    truncated: bool = False,
) -> Decision:
    """Answer, or abstain with the reason.

    `confidence` replaces the stated one when it comes from elsewhere (a critic, a vote). `truncated` says that the
    output was cut at the token limit: it is the reason given when what is missing may have been cut off. At
    granularity "claims" doubt is shown claim by claim, so an output is given unless it has no readable claims or
    no answer. At t = 0 the caller takes every risk: a confidence nobody can read answers, an absent answer does not.
    """
    if completion.idk:
        return Decision("abstain", "idk")
    if completion.answer is None:
        return Decision("abstain", "truncated" if truncated else "answer_missing")
    if completion.contract == "explicit_risk":
        return ANSWER
    if granularity == "claims":
        return ANSWER if completion.claims else _unreadable("missing", truncated)
    stated = confidence or Reading(completion.state, completion.confidence)
    if t <= 0:
        return ANSWER
    if stated.value is None:
        return _unreadable(stated.state, truncated)
    return ANSWER if stated.value >= t else Decision("abstain", "below_threshold")


def highlighted(claims: tuple[Claim, ...], t: float) -> list[int]:
    """Indices of the claims that are marked as uncertain at t."""
    return [i for i, claim in enumerate(claims) if decide_claim(claim.confidence, t) == "highlight"]


def _unreadable(state: str, truncated: bool) -> Decision:
    reason: Reason = "confidence_invalid" if state == "invalid" else "confidence_missing"
    return Decision("abstain", "truncated" if truncated and state == "missing" else reason)
