"""Are the steps of a worked solution right? Exact, for problems whose calculations are known."""

from collections.abc import Sequence

from demur.core.equivalence import same_answer
from demur_smol_lab.problems.problem import Problem, Step
from demur_smol_lab.problems.reasons import parse_step

NAMED = "the answer is "
"""What the one claim begins with where there is nothing to calculate."""


def check_steps(problem: Problem, claims: Sequence[str]) -> list[bool]:
    """For each claim whether it is the right calculation there and its stated result is true.

    A step that goes on correctly from an earlier wrong result is right: only the mistake itself counts. Claims beyond
    the problem's steps, and text that is no calculation, are wrong. Where there are no steps, one claim may name the
    answer.
    """
    if not problem.steps:
        return [i == 0 and _names(problem, claim) for i, claim in enumerate(claims)]
    stated: dict[int, int] = {}  # what a true intermediate result became in this solution
    verdicts: list[bool] = []
    for index, claim in enumerate(claims):
        parsed = parse_step(claim)
        if parsed is None or index >= len(problem.steps):
            verdicts.append(False)
            continue
        written, result = parsed
        planned = problem.steps[index]
        expected = Step(stated.get(planned.left, planned.left), planned.operation, planned.right)
        verdicts.append(_same(written, expected) and _true(written, result))
        stated[planned.result] = result
    return verdicts


def _names(problem: Problem, claim: str) -> bool:
    said = claim.removeprefix(NAMED)
    return said != claim and problem.answer is not None and same_answer(said, problem.answer)


def _same(written: Step, expected: Step) -> bool:
    if written.operation != expected.operation:
        return False
    pair, wanted = (written.left, written.right), (expected.left, expected.right)
    return sorted(pair) == sorted(wanted) if expected.operation in "+*" else pair == wanted


def _true(step: Step, result: int) -> bool:
    if step.operation == "/":  # wrong earlier results need not divide evenly
        return result * step.right == step.left
    return step.result == result
