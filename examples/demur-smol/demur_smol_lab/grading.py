"""What one sample of a graded problem came to: the strict reader, the one comparison of answers, exact steps."""

from dataclasses import dataclass

from demur.core.answers import ContractName
from demur.core.equivalence import same_answer
from demur.core.reader import read
from demur_smol_lab.problems.problem import Problem
from demur_smol_lab.problems.steps import check_steps


@dataclass(frozen=True, slots=True)
class Graded:
    """`confidence` is the stated one, for claims their minimum; None when the form was violated.

    `claims` are (confidence, right) pairs in the order of the solution, empty under the response contract;
    `reasons` what the model wrote about each; `answer` is the final one.
    """

    valid: bool
    violation: bool
    confidence: float | None
    claims: tuple[tuple[float, bool], ...] = ()
    reasons: tuple[str, ...] = ()
    answer: str = ""


def grade(problem: Problem, contract: ContractName, text: str, ended: bool) -> Graded:
    """Strict: an output without its end token, or in another form, is a violation and counts as wrong."""
    completion = read(text, contract, "strict")
    if completion.violation or not ended or completion.answer is None:
        return Graded(False, True, None)
    valid = problem.answer is not None and same_answer(completion.answer, problem.answer)
    right = check_steps(problem, [claim.text for claim in completion.claims])
    return Graded(
        valid,
        False,
        completion.confidence,
        tuple((claim.confidence or 0.0, ok) for claim, ok in zip(completion.claims, right, strict=True)),
        tuple(claim.explanation for claim in completion.claims),
        completion.answer,
    )
