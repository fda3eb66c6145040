"""The relation: keys that are equal for equal answers, and the pair check that grading uses."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from demur.core.equivalence.clean import normalise
from demur.core.equivalence.conversion import Scale, Units, compound_key, same_compound, same_quantity
from demur.core.equivalence.dates import Foreign, iso
from demur.core.equivalence.meaning import Assigned, Formula, Listing, Meaning, Text, meaning
from demur.core.equivalence.names import name_of_inequality, names_differ
from demur.core.equivalence.number import number_key
from demur.core.equivalence.pieces import EMPTY, spelled
from demur.core.equivalence.screen import is_tame
from demur.core.equivalence.sets import RealSet
from demur.core.equivalence.text import accents_differ, text_key
from demur.core.equivalence.units import Compound, Quantity, other_reading


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


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether two answers mean the same, and what could not be compared: of "formulas", "units" and "month names" those
    that were needed and that nobody was there to look at. It is empty where an `Algebra` was."""

    same: bool
    not_compared: tuple[str, ...]


_SHORT_SCRIPT = re.compile(r"([\^_])\{(\w)\}")
_TIMES = re.compile(r"(?<=[\w)}])\*(?=[A-Za-z\\(])")


def answer_key(answer: str, algebra: Algebra | None = None) -> str | None:
    """Equal for answers that mean the same; None when there is no answer.

    This is the relation of a vote: an equivalence, so grouping depends on no order and adding an answer moves no
    other. Units are dropped, since the question fixes them; a percentage is the fraction that it is.
    """
    read = meaning(answer)
    return None if read is None else _key(read, algebra)


def written_key(answer: str) -> tuple[str | None, bool]:
    """`answer_key` without algebra, and whether algebra might give another: for formulas, for quantities in several
    units, and for dates in other languages than English.

    Linear in the length of the answer: about a millisecond for 2,000 characters, 5 for 100,000.
    """
    asked = _Asked()
    return answer_key(answer, asked), bool(asked.needs)


class _Asked:
    """An algebra that knows nothing, and remembers what it was asked for that one could know."""

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


def compare(a: str, b: str, algebra: Algebra | None = None) -> Comparison:
    """`same_answer`, and what it could not compare for want of an `algebra`."""
    if algebra is not None:
        return Comparison(same_answer(a, b, algebra), ())
    asked = _Asked()
    same = same_answer(a, b, asked)
    return Comparison(same, () if same else tuple(sorted(asked.needs)))


def same_answer(a: str, b: str, algebra: Algebra | None = None) -> bool:
    """Whether two answers mean the same: the relation of grading. Symmetric; pure without `algebra`.

    As `answer_key`, and in a pair more can be told: units are converted or tell answers apart (1 km is 1000 m and not
    1 m; but 1 is 1 km), x = 3 is 3 and not y = 3, 3,14 is 3.14 and the list of 3 and 14, and algebra may relate answers
    of different form. None of that could be transitive, so none of it is in the relation of a vote.
    """
    one, other = meaning(a), meaning(b)
    if one is None or other is None or ("=" in a and "=" in b and names_differ(normalise(a), normalise(b))):
        return False
    match one, other:
        case Quantity(), Quantity():
            return same_quantity(one, other, algebra)
        case (Compound(), Quantity() | Compound()) | (Quantity(), Compound()):
            return _key(one, None) == _key(other, None) or same_compound(one, other, algebra)
        case (Quantity(), Listing()) | (Listing(), Quantity()):
            if _same_in_other_reading(one, other, a, b, algebra):
                return True
        case _:
            pass
    if _key(one, algebra) == _key(other, algebra):
        return not _contradict(one, other)
    if _same_but_for_brackets(one, other, algebra):
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
            return f"{read.name} = {_key(read.value, algebra)}"
        case Listing():
            return _listing_key(read, algebra)


def _listing_key(listing: Listing, algebra: Algebra | None) -> str:
    keys = [_key(item, algebra) for item in listing.items]
    if listing.ordered:
        return listing.brackets[0] + ", ".join(keys) + listing.brackets[1]
    keys = sorted(set(keys) if listing.brackets == "{}" else keys)
    if len(keys) == 1 and keys != [EMPTY]:
        return keys[0]
    return "{" + (" ∪ " if listing.brackets == "∪" else ", ").join(keys) + "}"


def _as_written(latex: str) -> str:
    """One spelling of a formula that nobody evaluates: no layout, no optional braces, no optional times."""
    return _TIMES.sub("", _SHORT_SCRIPT.sub(r"\1\2", "".join(latex.split())))


def _contradict(one: Meaning, other: Meaning) -> bool:
    """Whether answers of equal key are told apart by what their keys leave out."""
    match one, other:
        case Text(), Text():
            return accents_differ(one.written, other.written)
        case RealSet() | Formula(), RealSet() | Formula():
            variables = {_variable(one), _variable(other)} - {""}
            return len(variables) > 1
        case Listing(), Listing():
            units, others = _units(one), _units(other)
            return bool(units and others and units != others)
        case _:
            return False


def _variable(read: RealSet | Formula) -> str:
    """The one name of an inequality, "" of anything else."""
    return read.variable if isinstance(read, RealSet) else name_of_inequality(read.latex)


def _units(listing: Listing) -> list[str]:
    return sorted(item.unit for item in listing.items if isinstance(item, Quantity) and item.unit)


def _same_in_other_reading(one: Meaning, other: Meaning, a: str, b: str, algebra: Algebra | None) -> bool:
    """3,14 beside 3.14: what one answer leaves open, the other tells."""
    number, text = (one, b) if isinstance(one, Quantity) else (other, a)
    again = other_reading(normalise(text))
    return isinstance(number, Quantity) and again is not None and same_quantity(number, again, algebra)


def _may_differ_in_form(one: Meaning, other: Meaning) -> bool:
    """Whether algebra could relate two answers whose keys differ: one is a formula and neither a word; a number may be
    what an equation says."""
    pair = (one, other)
    if any(isinstance(read, Foreign | Compound) for read in pair):
        return False
    if any(isinstance(read, Formula) and "=" in read.latex for read in pair):
        return not any(
            isinstance(read, Text | Listing | RealSet) or (isinstance(read, Quantity) and read.unit) for read in pair
        )
    if any(isinstance(read, Quantity) or (isinstance(read, Text) and len(read.key) > 1) for read in pair):
        return False
    return any(isinstance(read, Formula) for read in pair)


def _same_but_for_brackets(one: Meaning, other: Meaning, algebra: Algebra | None) -> bool:
    """3, 4 passes as the point (3, 4)."""
    if not isinstance(one, Listing) or not isinstance(other, Listing) or {one.brackets, other.brackets} != {"", "()"}:
        return False
    return [_key(item, algebra) for item in one.items] == [_key(item, algebra) for item in other.items]
