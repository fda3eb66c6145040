"""How many problems of each family and size: fixed from what the warm-started model can do, before any calibration.

About 30 % near-certain, 40 % between and 30 % near-impossible. Only trivial and impossible problems would make every
figure look good; uniform difficulty caps a perfect reader of difficulty at AUC 0.83.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import accumulate

from demur_smol_lab.problems import adjacent, arithmetic, hard_negatives, knowledge, unfamiliar
from demur_smol_lab.problems.frames.calculations import CALCULATIONS
from demur_smol_lab.problems.frames.grammar import Core, Side, filled
from demur_smol_lab.problems.frames.stories import STORIES
from demur_smol_lab.problems.problem import Problem
from demur_smol_lab.problems.splits import CHOOSING, HELD_OUT, Split, split_of
from demur_training.errors import DataError

FAMILIES: Mapping[str, arithmetic.Draw] = {
    **arithmetic.FAMILIES,
    **knowledge.FAMILIES,
    **unfamiliar.FAMILIES,
    **hard_negatives.FAMILIES,
    **{name: partial(adjacent.problem, name, family) for name, family in adjacent.FAMILIES.items()},
}
CORES: Mapping[str, Core] = {
    **CALCULATIONS,
    "tens": CALCULATIONS["add"],
    **STORIES,
    **knowledge.CORES,
    **unfamiliar.CORES,
    **hard_negatives.CORES,
    **{name: family.core for name, family in adjacent.FAMILIES.items()},
}
"""How each family is asked."""

SHOWN: Mapping[str, float] = {
    "add/1": 3, "add/2": 12, "add/3": 7, "add/4": 3, "add/6": 2,
    "subtract/1": 3, "subtract/2": 6, "subtract/3": 3, "subtract/5": 2,
    "multiply/11": 4, "multiply/21": 5, "multiply/22": 3, "multiply/33": 2, "multiply/44": 3,
    "divide/1": 3, "divide/2": 2, "remainder/2": 2, "remainder/3": 2,
    "next/2": 3, "next/3": 3, "tens/1": 3, "tens/2": 3, "double/1": 3, "double/2": 3, "double/4": 2,
    "equation/1": 2, "equation/2": 3, "fraction/1": 3, "square/2": 1, "unit/1": 3, "unit/2": 2, "sequence/2": 2,
    "sum_times/1": 3, "sum_times/2": 3, "times_plus/1": 4, "times_plus/2": 3, "plus_minus/1": 3, "plus_minus/2": 3,
    "three_step/1": 2, "three_step/2": 2,
    "word_add/1": 2, "word_add/2": 3, "word_subtract/2": 2, "word_multiply/1": 2, "word_multiply/2": 2,
    "word_times_plus/1": 3, "word_plus_minus/2": 2,
    "capital/1": 4, "larger/2": 1, "larger/3": 1, "unknowable/1": 6,
}  # fmt: skip
"""What the warm start shows: some of almost everything."""

MIX: Mapping[str, float] = {
    # The warm-started model is right four times in five, or more
    "add/1": 3, "multiply/11": 4, "divide/1": 2, "next/2": 3, "next/3": 3, "tens/1": 2, "tens/2": 2, "double/1": 2,
    "double/2": 3, "fraction/1": 3, "times_plus/1": 3, "word_add/1": 2, "word_multiply/1": 3, "capital/1": 4,
    "larger/2": 1, "larger/3": 1,
    # sometimes
    "add/2": 6, "add/3": 5, "add/4": 3, "subtract/1": 3, "subtract/2": 4, "multiply/21": 5, "divide/2": 2,
    "remainder/2": 2, "remainder/3": 2, "double/4": 3, "equation/1": 2, "sum_times/1": 3, "times_plus/2": 3,
    "plus_minus/1": 3, "plus_minus/2": 2, "three_step/1": 2, "word_add/2": 4, "word_subtract/2": 2,
    "word_multiply/2": 3, "word_times_plus/1": 3, "word_plus_minus/2": 2, "unit/1": 2, "unit/2": 2, "sequence/2": 3,
    # hardly ever
    "add/6": 2, "subtract/3": 2, "subtract/5": 2, "multiply/22": 3, "multiply/33": 2, "multiply/44": 3,
    "equation/2": 2, "square/2": 1, "sum_times/2": 3, "three_step/2": 2, "unknowable/1": 6,
    # hardly ever, in families the warm start never showed: so that what is unfamiliar is doubted
    "percent/1": 1, "percent/2": 1, "cube/2": 1, "divisor/1": 1, "letters/1": 1, "backwards/1": 1, "weekday/1": 1,
    "roman/1": 1,
}  # fmt: skip
"""What is sampled, calibrated and measured."""

TAUGHT = adjacent.of_kind(adjacent.TAUGHT)
"""Adjacent families that are shown worked out; in the mix below they are measured on their own."""
DOUBTED: Mapping[str, float] = {
    **adjacent.of_kind(adjacent.DOUBTED), **unfamiliar.UNFAMILIAR, **hard_negatives.HARD_NEGATIVES,
}  # fmt: skip
"""Families that are asked and never shown."""
WIDE: Mapping[str, float] = {**MIX, **dict.fromkeys(TAUGHT, 1.5), **dict.fromkeys(DOUBTED, 0.5)}
"""What confidences are learnt on."""

TRANSFER: Mapping[str, float] = {
    "half/1": 1, "half/2": 1, "average/1": 1, "average/2": 1, "perimeter/1": 1, "perimeter/2": 1,
    "element/1": 1, "word_divide/1": 1, "word_divide/2": 1, **adjacent.of_kind(adjacent.HELD_OUT),
}  # fmt: skip
CHOICE = adjacent.of_kind(adjacent.VALIDATED)
"""What is asked to choose between ways of training."""

_PATIENCE = 10_000


def draw(cell: str, rng: random.Random, side: Side = "train") -> Problem:
    """One problem of a cell such as "add/2", from any split, asked in the wording of one side. Raises DataError for a
    family nobody knows."""
    return asked(_drawn(cell, rng), rng, side)


def asked(problem: Problem, rng: random.Random, side: Side) -> Problem:
    """The problem in a wording of that side: a new one each time. One that was written down whole stays as it is."""
    core = CORES.get(problem.family)
    return replace(problem, question=filled(core, dict(problem.asked), rng, side)) if core else problem


def side_of(split: Split) -> Side:
    """Whose wording a split is asked in; a family that is held out is so in everything but its surroundings."""
    return {"choosing": "validation", "transfer": "test"}.get(split, split)  # type: ignore[return-value]


def problems(
    split: Split, seed: int, mix: Mapping[str, float] | None = None, side: Side | None = None
) -> Iterator[Problem]:
    """Endless problems of one split in the proportions of `mix`, in the wording of its side unless another is named.

    Deterministic in `seed`.
    """
    shares = mix or {"transfer": TRANSFER, "choosing": CHOICE}.get(split, MIX)
    rng = random.Random(f"{split}-{seed}")
    cells, bounds = list(shares), list(accumulate(shares.values()))
    while True:
        cell = rng.choices(cells, cum_weights=bounds)[0]
        yield asked(of_split(cell, split, rng), rng, side or side_of(split))


def of_split(cell: str, split: Split, rng: random.Random) -> Problem:
    """One problem of `cell` that belongs to `split`, not asked yet. Raises DataError when the family is on the other
    side."""
    family = cell.partition("/")[0]
    if (family in HELD_OUT) != (split == "transfer") or (family in CHOOSING) != (split == "choosing"):
        raise DataError(f"{cell} has no problem in the split {split}: its family is held out as a whole, or not at all")
    for _ in range(_PATIENCE):
        problem = _drawn(cell, rng)
        if split_of(problem) == split:
            return problem
    raise DataError(f"{cell} has no problem in the split {split}: too few to choose from")


def _drawn(cell: str, rng: random.Random) -> Problem:
    family, _, size = cell.partition("/")
    if family not in FAMILIES or not size.isdigit():
        raise DataError(f"no such family and size: {cell}; families are {', '.join(sorted(FAMILIES))}")
    return FAMILIES[family](rng, int(size))


def distinct(
    split: Split,
    count: int,
    seed: int,
    mix: Mapping[str, float] | None = None,
    *,
    wanted: Callable[[Problem], bool] = lambda _: True,
    side: Side | None = None,
) -> list[Problem]:
    """`count` problems with different questions; cells that run out give way to the others."""
    found: dict[str, Problem] = {}
    for tries, problem in enumerate(problems(split, seed, mix, side)):
        if wanted(problem):
            found.setdefault(problem.question, problem)
        if len(found) == count:
            return list(found.values())
        if tries > 50 * count:
            raise DataError(f"only {len(found)} different questions in the split {split}, {count} were asked for")
    return []
