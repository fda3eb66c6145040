"""Pairwise equality of answers, for grading: that of their keys, and conversions and algebra that no key can hold."""

from dataclasses import dataclass

from demur.core.equivalence.compounds import Compound
from demur.core.equivalence.conversion import same_compound, same_quantity
from demur.core.equivalence.dates import Foreign
from demur.core.equivalence.keys import Algebra, RecordingAlgebra, meaning_key
from demur.core.equivalence.names import name_of_inequality, names_differ
from demur.core.equivalence.normalize import normalize
from demur.core.equivalence.parse import Formula, Listing, Meaning, Text, meaning
from demur.core.equivalence.sets import RealSet
from demur.core.equivalence.text import accents_differ
from demur.core.equivalence.units import Quantity, other_reading


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether two answers mean the same, and what could not be compared: of "formulas", "units" and "month names" those
    that were needed and that nobody was there to look at. It is empty where an `Algebra` was."""

    same: bool
    not_compared: tuple[str, ...]


def compare(a: str, b: str, algebra: Algebra | None = None) -> Comparison:
    """Whether two answers mean the same, as `same_answer` says, and what could not be compared without `algebra`."""
    if algebra is not None:
        return Comparison(same_answer(a, b, algebra), ())
    asked = RecordingAlgebra()
    same = same_answer(a, b, asked)
    return Comparison(same, () if same else tuple(sorted(asked.needs)))


def same_answer(a: str, b: str, algebra: Algebra | None = None) -> bool:
    """Whether two answers mean the same: the relation of grading. Symmetric; pure without `algebra`.

    As `answer_key`, and in a pair more can be told: units are converted or tell answers apart (1 km is 1000 m and not
    1 m; but 1 is 1 km), x = 3 is 3 and not y = 3, 3,14 is 3.14 and the list of 3 and 14, and algebra may relate answers
    of different form. None of that could be transitive, so none of it is in the relation of a vote.
    """
    one, other = meaning(a), meaning(b)
    if one is None or other is None or ("=" in a and "=" in b and names_differ(normalize(a), normalize(b))):
        return False
    match one, other:
        case Quantity(), Quantity():
            return same_quantity(one, other, algebra)
        case (Compound(), Quantity() | Compound()) | (Quantity(), Compound()):
            return meaning_key(one, None) == meaning_key(other, None) or same_compound(one, other, algebra)
        case (Quantity(), Listing()) | (Listing(), Quantity()):
            if _same_in_other_reading(one, other, a, b, algebra):
                return True
        case _:
            pass
    if meaning_key(one, algebra) == meaning_key(other, algebra):
        return not _contradict(one, other)
    if _same_but_for_brackets(one, other, algebra):
        return True
    if algebra is None or not _may_differ_in_form(one, other):
        return False
    first, second = sorted((normalize(a), normalize(b)))
    canonical = algebra.canonical(first)
    return (canonical is not None and canonical == algebra.canonical(second)) or algebra.equal(first, second)


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
    again = other_reading(normalize(text))
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
    """3, 4 passes as the point (3, 4), and 3, 4, 5 as the list [3, 4, 5]; [3, 4] is an interval."""
    if not isinstance(one, Listing) or not isinstance(other, Listing) or len(one.items) != len(other.items):
        return False
    brackets = {one.brackets, other.brackets}
    if brackets != {"", "()"} and (brackets != {"", "[]"} or len(one.items) < 3):
        return False
    return [meaning_key(item, algebra) for item in one.items] == [meaning_key(item, algebra) for item in other.items]
