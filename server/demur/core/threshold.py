"""The caller's risk threshold t: answer or abstain, assert or highlight (arXiv:2512.19920, section 3.2.2).

Abstain if and only if p < t, so a tie answers. The paper's introduction has the inequality the other way round in
one place; its method section is what holds.
"""

from demur.core.answers import Claim, ClaimDecision, Completion, Decision, Granularity, ParsedConfidence
from demur.core.contracts import ALL_CONTRACTS


def decide_claim(confidence: float | None, t: float) -> ClaimDecision:
    """Assert a claim whose confidence is at least the risk threshold t, both in [0, 1]; highlight any other.

    A claim without a readable confidence is highlighted whatever t is: nothing vouches for it.
    """
    return "highlight" if confidence is None or confidence < t else "assert"


def decide(
    completion: Completion,
    t: float,
    *,
    granularity: Granularity = "response",
    confidence: ParsedConfidence | None = None,
    truncated: bool = False,
) -> Decision:
    """Answer, or abstain with the reason, by the rule of the completion's contract.

    `confidence` replaces the stated one when it comes from elsewhere (a critic, a vote). `truncated` says that the
    output was cut at the token limit: it is the reason given when what is missing may have been cut off.
    """
    if completion.idk:
        return Decision("abstain", "idk")
    if completion.answer is None:
        return Decision("abstain", "truncated" if truncated else "answer_missing")
    stated = confidence or ParsedConfidence(completion.state, completion.confidence)
    decision = ALL_CONTRACTS[completion.contract].decide(completion, stated, t, granularity)
    if truncated and decision.reason == "confidence_missing":
        return Decision("abstain", "truncated")
    return decision


def highlighted(claims: tuple[Claim, ...], t: float) -> list[int]:
    """Indices of the claims that are marked as uncertain at t."""
    return [i for i, claim in enumerate(claims) if decide_claim(claim.confidence, t) == "highlight"]
