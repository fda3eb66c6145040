"""A family's questions: every core of it in every carrier that fits.

The parts of a frame, its carrier and the pieces of its core, are split by hash, so that *test wordings* have a part
that no training question has. A frame with a test part is for the test, one with a validation part and no test part
for choosing, the others for training.
"""

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Literal

from demur_smol_lab.problems.frames.carriers import AFTER, ASKERS, BEFORE
from demur_smol_lab.problems.frames.notation import written_otherwise

Side = Literal["train", "validation", "test"]

_HELD: tuple[Side, ...] = ("train", "validation", "test")
COMMONEST = 3
"""How many times as often a value is named in the commonest way as in any other."""
_VALIDATION, _TEST = 10, 16  # per cent of the parts


@dataclass(frozen=True, slots=True)
class Core:
    """What a family asks. `nouns` name a value ("the sum of {a} and {b}"), the commonest first, `wholes` are questions
    by themselves, `stories` are groups of scenes with the questions that end each of them. Where the family as a whole
    is on one side, its own pieces are not `split`, only what stands around them."""

    nouns: tuple[str, ...] = ()
    wholes: tuple[str, ...] = ()
    stories: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    split: bool = True

    def kernels(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Every question without its surroundings: its parts and its text with placeholders."""
        for noun in self.nouns:
            for asker in ASKERS:
                yield self._parts(asker, noun), _capital(asker.replace("{x}", noun))
        for whole in self.wholes:
            yield self._parts("", whole), whole
        for scenes, questions in self.stories:
            for scene, question in product(scenes, questions):
                yield self._parts("", scene, question), f"{scene} {question}"

    def _parts(self, asker: str, *own: str) -> tuple[str, ...]:
        return (asker, *own) if self.split else (asker,)


def part_side(part: str) -> Side:
    """The side of one part; where there is none, everybody's."""
    if not part:
        return "train"
    bucket = int.from_bytes(hashlib.sha256(f"part|{part}".encode()).digest()[:4]) % 100
    if bucket < _TEST:
        return "test"
    return "validation" if bucket < _TEST + _VALIDATION else "train"


def side(parts: Iterable[str]) -> Side:
    """The side of a frame: that of its most held-out part."""
    found = {part_side(part) for part in parts}
    return "test" if "test" in found else "validation" if "validation" in found else "train"


def count_frames(core: Core) -> Mapping[Side, int]:
    """How many distinct frames a family has on each side, in one notation."""
    texts: dict[str, Side] = {text: side(parts) for parts, text in core.kernels()}
    kernels: Mapping[Side, int] = {name: [*texts.values()].count(name) for name in _HELD}
    around: Mapping[Side, int] = {name: len(_around(name)) for name in _HELD}
    found: dict[Side, int] = dict.fromkeys(_HELD, 0)
    for (own, count), (other, times) in product(kernels.items(), around.items()):
        found[own if _HELD.index(own) > _HELD.index(other) else other] += count * times
    return found


@cache
def _kernels(core: Core) -> Mapping[Side, tuple[str, ...]]:
    """The questions without surroundings on each side; the commonest way of naming a value comes more often."""
    found: dict[Side, list[str]] = {"train": [], "validation": [], "test": []}
    for parts, kernel in core.kernels():
        common = bool(core.nouns) and core.nouns[0] in kernel
        found[side(parts)] += [kernel] * (COMMONEST if common else 1)
    return {name: tuple(texts) for name, texts in found.items()}


@cache
def _around(on: Side) -> Sequence[tuple[str, str]]:
    """What may stand around a question of one side: on it, the pairs with one part of it at least."""
    return [pair for pair in product(BEFORE, AFTER) if side(pair) == on]


def frame(core: Core, rng: random.Random, on: Side) -> str:
    """One frame of that side. Half of the questions stand alone, for that is how they mostly come, unless nothing but
    what is around them could be of that side; a family that is held out whole is new in any surroundings."""
    kernels = _kernels(core)
    if core.split:
        chosen, alone = kernels[on] or kernels["train"], bool(kernels[on])
    else:
        chosen, alone = (*kernels["train"], *(kernels[on] if on != "train" else ())), True
    if alone and rng.random() < 0.5:
        return rng.choice(chosen)
    before, after = rng.choice(_around("train" if alone and rng.random() < 0.5 else on))
    return f"{before}{rng.choice(chosen)}{after}"


def filled(core: Core, values: Mapping[str, str], rng: random.Random, on: Side) -> str:
    """A question: a frame with the values in their places, in one of many notations."""
    return written_otherwise(frame(core, rng, on).format(**values), rng)


def _capital(text: str) -> str:
    """Sentences begin with a capital where the asker's own first word is not what begins them."""
    return text[0].upper() + text[1:] if text[0].isalpha() and not text.startswith("y =") else text
