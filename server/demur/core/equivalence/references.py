r"""Ground truths as data sets write them: text, a number, several accepted answers, a verl row's dictionary."""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, cast

from demur.core.equivalence.comparison import same_answer
from demur.core.equivalence.keys import Algebra
from demur.core.equivalence.number import combine, number_key
from demur.core.equivalence.parse import meaning
from demur.core.equivalence.unit_names import PERCENT
from demur.core.equivalence.units import Quantity

_FIELDS = ("target", "answer", "final_answer", "ground_truth", "value", "aliases")
_ALTERNATIVES = re.compile(r"\s*\\text\s*\{\s*OR\s*\}\s*|\s+OR\s+")
MAX_NESTING = 4


def reference_answers(ground_truth: Any) -> tuple[str, ...]:
    r"""The accepted answers, without empty ones.

    A string may name alternatives with a capital OR ("\frac{1}{2} \text{ OR } 0.5"; a small "or" is part of the
    answer). A mapping gives the first of its fields target, answer, final_answer, ground_truth, value, aliases.
    Raises TypeError for anything that is no text, number, mapping or collection of those.
    """
    return tuple(dict.fromkeys(_flatten(ground_truth, MAX_NESTING)))


def after_hashes(solution: str) -> str | None:
    """The final answer of a solution as GSM8K writes it, after `####` and without commas in numbers; None without."""
    _, hashes, answer = solution.rpartition("####")
    return answer.strip().replace(",", "") if hashes else None


def is_correct(answer: str | None, ground_truth: Any, algebra: Algebra | None = None) -> bool:
    """Whether the answer means the same as any accepted one. No answer is never correct. Raises as `reference_answers`.

    A ground truth of 25% says that the question asks for a percentage, so 25 is correct there, as 5 is where 5 km is.
    """
    golds = reference_answers(ground_truth)
    return answer is not None and any(
        same_answer(answer, gold, algebra) or _is_its_percentage(answer, gold) for gold in golds
    )


def _is_its_percentage(answer: str, gold: str) -> bool:
    if "%" not in gold and "percent" not in gold:
        return False
    given, true = meaning(answer), meaning(gold)
    if not isinstance(given, Quantity) or not isinstance(true, Quantity) or given.unit or true.unit != PERCENT:
        return False
    return number_key(combine(given.value, "/", Fraction(100))) == number_key(true.value)


def _flatten(truth: Any, nesting: int) -> Iterable[str]:
    if nesting == 0:
        raise TypeError("a ground truth is nested too deeply")
    if hasattr(truth, "tolist"):
        truth = truth.tolist()  # numpy's scalars and arrays, as parquet rows carry them
    if isinstance(truth, str):
        return [part.strip() for part in _ALTERNATIVES.split(truth) if part.strip()]
    if isinstance(truth, bool) or truth is None:
        raise TypeError(f"a ground truth is text, a number, a mapping or a list of those, not {truth!r}")
    if isinstance(truth, int | float):
        return [repr(truth)]
    if isinstance(truth, Mapping):
        field = next((name for name in _FIELDS if name in truth), None)
        if field is None:
            raise TypeError(f"a ground truth given as a mapping needs one of the fields {', '.join(_FIELDS)}")
        return _flatten(truth[field], nesting - 1)
    if isinstance(truth, list | tuple | set | frozenset):
        items = cast("Iterable[Any]", truth)
        return [answer for item in items for answer in _flatten(item, nesting - 1)]
    raise TypeError(f"a ground truth is text, a number, a mapping or a list of those, not {type(truth).__name__}")
