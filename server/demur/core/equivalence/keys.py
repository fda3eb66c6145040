"""The relation: keys that are equal for equal answers, and the pair check that grading uses."""

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from demur.core.equivalence.clean import normalise
from demur.core.equivalence.meaning import Formula, Listing, Meaning, Text, meaning
from demur.core.equivalence.number import number_key
from demur.core.equivalence.screen import is_tame
from demur.core.equivalence.units import PERCENT, Quantity, contradict, scaled_down


class Algebra(Protocol):
    """Compares formulas by value. `demur.grading` has one; without any, formulas are compared as they are written."""

    def canonical(self, latex: str) -> str | None:
        """A key that is equal for formulas of equal value; None when it cannot be found (in time)."""
        ...

    def equal(self, latex: str, other: str) -> bool:
        """Whether either order of the two passes as equal; False when that cannot be found (in time)."""
        ...


_BARE_FRACTION = re.compile(r"\\frac(?:\s*(\d)|\s+([a-z]))\s*(?:(\w)|(?=\{))")
_SHORT_SCRIPT = re.compile(r"([\^_])\{(\w)\}")
_TIMES = re.compile(r"(?<=[\w)}])\*(?=[A-Za-z\\(])")


def answer_key(answer: str, algebra: Algebra | None = None) -> str | None:
    """Equal for answers that mean the same; None when there is no answer.

    This is the relation of a vote: an equivalence, so grouping depends on no order and adding an answer moves no
    other. Units and percent signs are dropped, since the question fixes them.
    """
    read = meaning(answer)
    return None if read is None else _key(read, algebra)


def written_key(answer: str) -> tuple[str | None, bool]:
    """`answer_key` without algebra, and whether algebra might give another: it does for formulas alone.

    Linear in the length of the answer: about a millisecond for 2,000 characters, 5 for 100,000.
    """
    asked = _Asked()
    return answer_key(answer, asked), asked.anything


class _Asked:
    """An algebra that knows nothing, and remembers whether it was asked for anything that one could know."""

    def __init__(self) -> None:
        self.anything = False

    def canonical(self, latex: str) -> str | None:
        self.anything = self.anything or is_tame(latex)
        return None

    def equal(self, latex: str, other: str) -> bool:
        return False


def same_answer(a: str, b: str, algebra: Algebra | None = None) -> bool:
    """Whether two answers mean the same: the relation of grading. Symmetric; pure without `algebra`.

    As `answer_key`, and in a pair more can be told: units that contradict each other tell answers apart (5 km, 5 m;
    but 5 is 5 km), 10% passes as 10 and as 0.1, and algebra may relate answers of different form (x > 2 and the
    interval). None of that could be transitive, so none of it is in the relation of a vote.
    """
    one, other = meaning(a), meaning(b)
    if one is None or other is None:
        return False
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return _same_quantity(one, other)
    if _key(one, algebra) == _key(other, algebra) or _same_but_for_brackets(one, other, algebra):
        return True
    if algebra is None or not _may_differ_in_form(one, other):
        return False
    first, second = sorted((normalise(a), normalise(b)))
    canonical = algebra.canonical(first)
    return (canonical is not None and canonical == algebra.canonical(second)) or algebra.equal(first, second)


def group_answers(answers: Sequence[str | None], algebra: Algebra | None = None) -> list[int | None]:
    """A group number for each answer, counted from 0 in order of appearance; None where there is no answer.

    The partition is the same for every order of the answers. One key for each distinct answer is worked out.
    """
    return group_by(answers, lambda answer: answer_key(answer, algebra))


def group_by(answers: Sequence[str | None], key_of: Callable[[str], str | None]) -> list[int | None]:
    """`group_answers` with any keys."""
    keys: dict[str, str | None] = {}
    numbers: dict[str, int] = {}
    groups: list[int | None] = []
    for answer in answers:
        if answer is not None and answer not in keys:
            keys[answer] = key_of(answer)
        key = None if answer is None else keys[answer]
        groups.append(None if key is None else numbers.setdefault(key, len(numbers)))
    return groups


def _key(read: Meaning, algebra: Algebra | None) -> str:
    match read:
        case Quantity():
            return number_key(read.value)
        case Text():
            return f'"{read.key}"'
        case Formula():
            canonical = algebra.canonical(read.latex) if algebra else None
            return canonical or _as_written(read.latex)
        case Listing():
            return _listing_key(read, algebra)


def _listing_key(listing: Listing, algebra: Algebra | None) -> str:
    keys = [_key(item, algebra) for item in listing.items]
    if listing.ordered:
        return listing.brackets[0] + ", ".join(keys) + listing.brackets[1]
    if len(keys) == 1:
        return keys[0]
    return "{" + (" ∪ " if listing.brackets == "∪" else ", ").join(sorted(keys)) + "}"


def _as_written(latex: str) -> str:
    """One spelling of a formula that nobody evaluates: no layout, no optional braces, no optional times."""
    latex = _BARE_FRACTION.sub(_braced, latex)
    return _TIMES.sub("", _SHORT_SCRIPT.sub(r"\1\2", "".join(latex.split())))


def _braced(fraction: re.Match[str]) -> str:
    bottom = f"{{{fraction[3]}}}" if fraction[3] else ""
    return f"\\frac{{{fraction[1] or fraction[2]}}}{bottom}"


def _same_quantity(one: Quantity, other: Quantity) -> bool:
    if number_key(one.value) == number_key(other.value):
        return not contradict(one.unit, other.unit)
    if one.unit == PERCENT and not other.unit:
        return number_key(scaled_down(one)) == number_key(other.value)
    if other.unit == PERCENT and not one.unit:
        return number_key(scaled_down(other)) == number_key(one.value)
    return False


def _may_differ_in_form(one: Meaning, other: Meaning) -> bool:
    """Whether algebra could relate two answers whose keys differ: one is a formula and neither a word; a number may be
    what an equation says."""
    pair = (one, other)
    if any(isinstance(read, Formula) and "=" in read.latex for read in pair):
        return not any(isinstance(read, Text | Listing) or (isinstance(read, Quantity) and read.unit) for read in pair)
    if any(isinstance(read, Quantity) or (isinstance(read, Text) and len(read.key) > 1) for read in pair):
        return False
    return any(isinstance(read, Formula) for read in pair)


def _same_but_for_brackets(one: Meaning, other: Meaning, algebra: Algebra | None) -> bool:
    """3, 4 passes as the point (3, 4)."""
    if not isinstance(one, Listing) or not isinstance(other, Listing) or {one.brackets, other.brackets} != {"", "()"}:
        return False
    return [_key(item, algebra) for item in one.items] == [_key(item, algebra) for item in other.items]
