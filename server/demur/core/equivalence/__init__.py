r"""Are two answers the same: used by voting, rewards and evaluation alike.

`normalize` brings an answer into one spelling, `parse` reads it (a number with a unit, a date, a set, a list, words, a
formula), `keys` holds the relation of a vote and `comparison` that of a pair. Formulas, units and months in other
languages than English are looked at by an `Algebra` (see `demur.grading`), or else compared as written.
"""

from demur.core.equivalence.comparison import Comparison, compare, same_answer
from demur.core.equivalence.complexity_guard import is_tame
from demur.core.equivalence.conversion import Scale
from demur.core.equivalence.keys import Algebra, answer_key, group_answers, group_by, written_key
from demur.core.equivalence.normalize import normalize
from demur.core.equivalence.references import after_hashes, is_correct, reference_answers

__all__ = [
    "Algebra",
    "Comparison",
    "Scale",
    "after_hashes",
    "answer_key",
    "compare",
    "group_answers",
    "group_by",
    "is_correct",
    "is_tame",
    "normalize",
    "reference_answers",
    "same_answer",
    "written_key",
]
