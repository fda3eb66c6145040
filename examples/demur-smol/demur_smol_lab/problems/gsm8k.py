"""School problems in words, from GSM8K's own file: far harder than what is generated here."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from demur.core.equivalence import after_hashes
from demur_smol_lab.problems.problem import Operation, Problem, Step, calculate
from demur_training.data.rows import read_file
from demur_training.errors import DataError

SCHOOL = Path(__file__).with_name("school.jsonl")
"""720 rows of GSM8K's training file (OpenAI, MIT licence, school.LICENSE) that `read_gsm8k` takes, in random order but
that the first 120 have questions of at most 220 characters."""

LONGEST_QUESTION = 350
"""Characters. Longer ones cost more than they teach a model of this size."""

MOST_STEPS = 4

_ANNOTATION = re.compile(r"<<(\d{1,9})([-+*/])(\d{1,9})=(\d{1,9})>>")


def read_gsm8k(path: Path) -> Iterator[Problem]:
    """The short problems whose working is whole-number calculations of two operands; size is their number.

    Raises DataError when a row lacks its question or answer.
    """
    for number, row in enumerate(read_file(path), 1):
        missing = [name for name in ("question", "answer") if name not in row]
        if missing:
            raise DataError(f"{path}, row {number}, is no GSM8K row: it has no {missing[0]}")
        problem = _problem(row["question"], row["answer"])
        if problem is not None:
            yield problem


def _problem(question: str, solution: str) -> Problem | None:
    answer = after_hashes(solution)
    annotated = [_step(*match.groups()) for match in _ANNOTATION.finditer(solution)]
    steps = tuple(step for step in annotated if step is not None)
    if len(question) > LONGEST_QUESTION or len(steps) != solution.count("<<") or not 1 <= len(steps) <= MOST_STEPS:
        return None
    if answer is None or str(steps[-1].result) != answer:
        return None
    text = " ".join(question.split())
    facts = ("gsm8k", hashlib.sha256(text.encode()).hexdigest()[:16])
    return Problem("gsm8k", len(steps), facts, text, answer, steps, in_words=True)


def _step(left: str, operation: str, right: str, result: str) -> Step | None:
    """None where the annotated result is not the whole-number one: a division with a remainder."""
    named: dict[str, Operation] = {"+": "+", "-": "-", "*": "*", "/": "/"}
    a, b = int(left), int(right)
    if operation == "/" and (b == 0 or a % b):
        return None
    return Step(a, named[operation], b) if calculate(a, named[operation], b) == int(result) else None
