"""Families beside those of `arithmetic`: a part is taught, a part only asked to be doubted, a part held out whole."""

from collections.abc import Mapping

from demur_smol_lab.problems.adjacent.calendar import CALENDAR
from demur_smol_lab.problems.adjacent.comparisons import COMPARISONS
from demur_smol_lab.problems.adjacent.decimals import DECIMALS
from demur_smol_lab.problems.adjacent.family import DOUBTED, HELD_OUT, TAUGHT, VALIDATED, Family, Kind, problem
from demur_smol_lab.problems.adjacent.fractions import FRACTIONS
from demur_smol_lab.problems.adjacent.general import GENERAL
from demur_smol_lab.problems.adjacent.longer import LONGER
from demur_smol_lab.problems.adjacent.negatives import NEGATIVES
from demur_smol_lab.problems.adjacent.percents import PERCENTS
from demur_smol_lab.problems.adjacent.spoken import SPOKEN
from demur_smol_lab.problems.adjacent.talk import TALK
from demur_smol_lab.problems.adjacent.tongues import TONGUES

FAMILIES: Mapping[str, Family] = {
    **FRACTIONS,
    **DECIMALS,
    **PERCENTS,
    **NEGATIVES,
    **LONGER,
    **COMPARISONS,
    **SPOKEN,
    **CALENDAR,
    **TONGUES,
    **GENERAL,
    **TALK,
}


def of_kind(kind: Kind) -> dict[str, float]:
    """The mix of one kind's families, all alike, in two sizes."""
    return {f"{name}/{size}": 1.0 for name, family in FAMILIES.items() if family.kind == kind for size in (1, 2)}


__all__ = ["DOUBTED", "FAMILIES", "HELD_OUT", "TAUGHT", "VALIDATED", "Family", "Kind", "of_kind", "problem"]
