"""What the warm start shows the model: a worked answer in the form of each contract."""

import random
from collections.abc import Sequence

from demur_smol_lab.problems.knowledge import UNKNOWN
from demur_smol_lab.problems.problem import Problem
from demur_smol_lab.problems.reasons import true_reasons
from demur_smol_lab.problems.steps import NAMED

NOTHING_KNOWN = "Nothing here tells that."
FIRST_ATTEMPT = "First try: "
"""What the line with the answer of a first attempt begins with."""
SOLUTION = "Solution:"
"""The line after the working, under the claims contract."""


def written(confidence: float) -> str:
    """Two decimals, from 0.00 to 0.99: always the same four tokens, so that each of the two digits has one place."""
    return f"0.{min(99, max(0, round(100 * confidence))):02d}"


def response_text(problem: Problem, confidence: float) -> str:
    """Working where the problem asks for it, then the two last lines of the response contract."""
    working = "".join(f"{step}\n" for step in problem.steps) if problem.in_words else ""
    return f"{working}Answer: {_said(problem)}\nConfidence: {written(confidence)}"


def claims_text(problem: Problem, confidences: Sequence[float], rng: random.Random) -> str:
    """Private working, then every step again with its confidence and a true reason for doubt.

    The confidence of a step stands before it, so only the working lets it depend on what the step will say.
    """
    claims = [(str(step), rng.choice(true_reasons(step))) for step in problem.steps]
    claims = claims or [_only_claim(problem)]
    tags = (
        f'<Confidence value={written(confidence)} text="{reason}">{claim}</Confidence>'
        for (claim, reason), confidence in zip(claims, confidences, strict=True)
    )
    working = "\n".join(claim for claim, _ in claims)
    return f"{working}\n{SOLUTION}\n" + "\n".join(tags) + f"\nAnswer:{_said(problem)}"


def _said(problem: Problem) -> str:
    return problem.answer or problem.reply or UNKNOWN


def _only_claim(problem: Problem) -> tuple[str, str]:
    """Of a problem without steps, with its reason for doubt."""
    if problem.answer is None:
        return NOTHING_KNOWN, "the question does not say"
    return f"{NAMED}{problem.answer}", "not worked out in steps"


def count_claims(problem: Problem) -> int:
    """How many confidences `claims_text` needs."""
    return max(1, len(problem.steps))
