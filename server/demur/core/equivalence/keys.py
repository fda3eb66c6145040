"""Canonical keys of answers: samples whose answers have the same key vote as one group."""

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from demur.core.equivalence.complexity_guard import is_tame
from demur.core.equivalence.compounds import Compound
from demur.core.equivalence.conversion import Scale, Units, compound_key
from demur.core.equivalence.dates import Foreign, iso
from demur.core.equivalence.number import number_key
from demur.core.equivalence.parse import Assigned, Formula, Listing, Meaning, Text, meaning
from demur.core.equivalence.pieces import EMPTY, spelled
from demur.core.equivalence.sets import RealSet
from demur.core.equivalence.text import text_key
from demur.core.equivalence.units import Quantity


class Algebra(Units, Protocol):
    """Compares formulas by value, and looks up units and months. `demur.grading` has one; without any, formulas are
    compared as they are written, and so is what needs a unit converted or a month's name translated."""

    def canonical(self, latex: str) -> str | None:
        """A key that is equal for formulas of equal value; None when it cannot be found (in time)."""
        ...

    def equal(self, latex: str, other: str) -> bool:
        """Whether either order of the two passes as equal; False when that cannot be found (in time)."""
        ...

    def month(self, name: str) -> int | None:
        """1 to 12 for the name of a month in any common language, None for any other word."""
        ...


_SHORT_SCRIPT = re.compile(r"([\^_])\{(\w)\}")
_TIMES = re.compile(r"(?<=[\w)}])\*(?=[A-Za-z\\(])")


def answer_key(answer: str, algebra: Algebra | None = None) -> str | None:
    """The canonical key of an answer: equal for answers that mean the same; None when there is no answer.

    This is the relation of a vote: an equivalence, so grouping depends on no order and adding an answer moves no
    other. Units are dropped, since the question fixes them; a percentage is the fraction that it is.
    """
    read = meaning(answer)
    return None if read is None else meaning_key(read, algebra)


def written_key(answer: str) -> tuple[str | None, bool]:
    """`answer_key` without algebra, and whether algebra might give another: for formulas, for quantities in several
    units, and for dates in other languages than English.

    Linear in the length of the answer: about a millisecond for 2,000 characters, 5 for 100,000.
    """
    asked = RecordingAlgebra()
    return answer_key(answer, asked), bool(asked.needs)


class RecordingAlgebra:
    """An algebra that answers nothing, and records what a real one would have been needed for."""

    def __init__(self) -> None:
        self.needs: set[str] = set()

    def canonical(self, latex: str) -> str | None:
        if is_tame(latex):
            self.needs.add("formulas")
        return None

    def equal(self, latex: str, other: str) -> bool:
        return False

    def unit(self, name: str) -> Scale | None:
        self.needs.add("units")
        return None

    def month(self, name: str) -> int | None:
        self.needs.add("month names")
        return None


def group_answers(answers: Sequence[str | None], algebra: Algebra | None = None) -> list[int | None]:
    """A group number for each answer, counted from 0 in order of appearance; None where there is no answer.

    The partition is the same for every order of the answers. One key for each distinct answer is worked out.
    """
    return group_by(answers, lambda answer: answer_key(answer, algebra))


def group_by(answers: Sequence[str | None], key_of: Callable[[str], str | None]) -> list[int | None]:
    """A group number for each answer, as `group_answers` gives it, by the keys that `key_of` makes."""
    keys: dict[str, str | None] = {}
    numbers: dict[str, int] = {}
    groups: list[int | None] = []
    for answer in answers:
        if answer is not None and answer not in keys:
            keys[answer] = key_of(answer)
        key = None if answer is None else keys[answer]
        groups.append(None if key is None else numbers.setdefault(key, len(numbers)))
    return groups


def meaning_key(read: Meaning, algebra: Algebra | None) -> str:
    """The canonical key of what an answer means; without `algebra` a formula has that of its spelling."""
    match read:
        case Quantity():
            return number_key(read.value)
        case Compound():
            return compound_key(read, algebra)
        case Text():
            return f'"{read.key}"'
        case Foreign():
            month = algebra.month(read.month) if algebra else None
            day = None if month is None else iso(read.year, month, read.day)
            return f'"{text_key(day or read.written)}"'
        case Formula():
            canonical = algebra.canonical(read.latex) if algebra else None
            return canonical or _as_written(read.latex)
        case RealSet():
            return spelled(read.pieces)
        case Assigned():
            return f"{read.name} = {meaning_key(read.value, algebra)}"
        case Listing():
            return _listing_key(read, algebra)


def _listing_key(listing: Listing, algebra: Algebra | None) -> str:
    keys = [meaning_key(item, algebra) for item in listing.items]
    if listing.ordered:
        return listing.brackets[0] + ", ".join(keys) + listing.brackets[1]
    keys = sorted(set(keys) if listing.brackets == "{}" else keys)
    if len(keys) == 1 and keys != [EMPTY]:
        return keys[0]
    return "{" + (" ∪ " if listing.brackets == "∪" else ", ").join(keys) + "}"


def _as_written(latex: str) -> str:
    """One spelling of a formula that nobody evaluates: no layout, no optional braces, no optional times."""
    return _TIMES.sub("", _SHORT_SCRIPT.sub(r"\1\2", "".join(latex.split())))
