"""What a family is: how it draws a problem, how it is asked, and what it is for."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from demur_smol_lab.problems.arithmetic import facts_of, people
from demur_smol_lab.problems.frames.grammar import Core
from demur_smol_lab.problems.problem import Problem, Step

Kind = Literal["taught", "doubted", "validated", "held-out"]
TAUGHT: Kind = "taught"
"""Shown worked out, and asked."""
DOUBTED: Kind = "doubted"
"""Only asked: what comes of it teaches confidence alone."""
VALIDATED: Kind = "validated"
"""Asked to choose between ways of training, never in it."""
HELD_OUT: Kind = "held-out"
"""Asked once, to measure."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The values of a question's places, its answer (None: nobody knows) and the whole-number steps to it."""

    values: Mapping[str, object]
    answer: object | None
    steps: Sequence[Step] = ()
    reply: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """`draw` takes a size from 1 on. A family that is held out, or never shown, has no sides of its own wording."""

    kind: Kind
    core: Core
    draw: Callable[[random.Random, int], Drawn]


def family(
    kind: Kind,
    draw: Callable[[random.Random, int], Drawn],
    *,
    nouns: Sequence[str] = (),
    wholes: Sequence[str] = (),
) -> Family:
    """A family by its parts."""
    return Family(kind, replace(Core(tuple(nouns), tuple(wholes)), split=kind == TAUGHT), draw)


def problem(name: str, of: Family, rng: random.Random, size: int) -> Problem:
    """One problem, not yet asked. Calculations are its facts; where there is none, its values are."""
    drawn = of.draw(rng, size)
    values = tuple((place, str(value)) for place, value in drawn.values.items())
    steps = tuple(drawn.steps)
    asked = (*values, *(pair for pair in people(rng) if pair[0] not in drawn.values))
    facts = facts_of(steps) if steps else (name, *(value for _, value in values or asked))
    answer = None if drawn.answer is None else str(drawn.answer)
    return Problem(name, size, facts, "", answer, steps, bool(steps), asked, drawn.reply)


def digits(rng: random.Random, size: int) -> int:
    """A number of `size` digits, or one less; from 2 on."""
    return rng.randint(2, 10**size - 1)


def answered(answer: object, **values: object) -> Drawn:
    """What has an answer and no steps."""
    return Drawn(values, answer)


def worked(steps: Sequence[Step], answer: object | None = None, **values: object) -> Drawn:
    """What is worked out step by step; the answer is the last result unless it is told."""
    return Drawn(values, steps[-1].result if answer is None else answer, steps)
