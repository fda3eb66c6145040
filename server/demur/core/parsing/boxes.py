r"""Answers in TeX's boxes: `\boxed{42}`, and answers of several parts in a box each."""

import re
from collections import deque
from collections.abc import Sequence
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from demur.core.equivalence import same_answer
from demur.core.equivalence.arithmetic import evaluate
from demur.core.equivalence.normalize import normalize
from demur.core.equivalence.number import approximate
from demur.core.parsing.box_labels import says_how_sure, without_label

BOXED = re.compile(r"\\(?:boxed|fbox)\s{0,4}(?=\{)")
_BOXED_BARE = re.compile(
    r"\\(?:boxed|fbox)\s{0,4}(-?[0-9](?:[0-9.,]{0,30}[0-9])?(?![\w{])|[A-Z](?=[\s$.]*$))", re.MULTILINE
)
"""As TeX takes it: without braces."""
_BRACE = re.compile(r"(?<!\\)[{}]")
_MOST_PARTS, _LONGEST_BETWEEN = 16, 80
_NAME = r"(?:\\[A-Za-z]{2,10}|[A-Za-z][A-Za-z0-9]{0,11})(?:_\{?\w{1,4}\}?)?'?"
_IS = r"\s{0,2}&?\s{0,2}=[\s$&]{0,4}"
_SEPARATOR = (
    r"(?:[\s,;&$]|\\(?:[,;:! ()\[\]\\]|quad|qquad|text\s?\{\s*(?:and|or)\s*\})|\b(?:and|or|und|oder|et|ou|y|o|e)\b)"
)
_BETWEEN = re.compile(
    rf"(?P<list>{_SEPARATOR}{{1,40}}?)"
    rf"(?:(?P<item>\(?(?:[a-h]|[ivx]{{1,3}}|[1-9])\)\s{{0,4}})|(?<!\w)(?P<name>{_NAME}){_IS})?{_SEPARATOR}{{0,8}}"
)
"""What may stand between the parts of one answer: a comma, a word, the letter of the next part, or its name: y =."""
_NAME_BEFORE = re.compile(rf"(?<![\w\\+*/^-])(?<![+*/^-] )(?P<name>{_NAME}){_IS}$")
_ASSIGNS = re.compile(rf"\s*(?P<name>{_NAME})\s*=")
_MANY_PLACES = re.compile(r"-?\d{1,30}\.(?P<places>\d{4,30})", re.ASCII)
_ONE_LETTER = re.compile(r"[A-Za-z](?:_\{?\w{1,4}\}?)?'?")


_SAYS_WHAT_IT_IS = re.compile(
    r"(?::|(?<![\w\\])(?:is|are|was|were|equals?|ist|sind|beträgt|est|sont|vaut|es|son|è|é|são|sono|jest|wynosi))$",
    re.IGNORECASE,
)
"""What a sentence says right before its answer."""


class _Box(NamedTuple):
    start: int
    end: int
    inside: str


def last_boxed(text: str) -> str | None:
    """What the last box with balanced braces holds. Boxes that list the parts of one answer are read together."""
    parts: list[str] = []
    later: _Box | None = None
    name: str | None = None
    for match in reversed(deque(BOXED.finditer(text), maxlen=_MOST_PARTS)):
        box = _box(text, match)
        if box is None or _holds_a_confidence(text, box):
            continue
        own = _name_before(text, box.start)
        if later is not None and not _is_list(text, box, later, own, name):
            break
        if box.inside:
            parts.insert(0, f"{own} = {box.inside}" if own else box.inside)
            later, name = box, own
    if parts and (value := _one_value(parts)) is not None:
        return _without_name(value, name)
    if parts:
        return ", ".join(parts)
    bare = deque(_BOXED_BARE.finditer(text), maxlen=1)
    return bare[0][1] if bare else None


def _one_value(parts: Sequence[str]) -> str | None:
    r"""The one answer that was written in several ways, as `\boxed{1.3333}, or \boxed{4/3}`: the last that is exact."""
    if len(set(parts)) == 1:
        return parts[0]
    if any("=" in part or len(part) > _LONGEST_BETWEEN for part in parts):
        return None
    for value in reversed(parts):
        if all(same_answer(part, value) or _rounds(part, value) for part in parts):
            return value
    return None


def _rounds(part: str, value: str) -> bool:
    """Whether a decimal of many places is that value, rounded."""
    decimal = _MANY_PLACES.fullmatch(part)
    exact = None if decimal is None else evaluate(normalize(value))
    if decimal is None or exact is None:
        return False
    return abs(approximate(exact) - Decimal(part)) <= Decimal(5).scaleb(-len(decimal["places"]) - 1)


def without_boxes(bare: str) -> str | None:
    """The content of a box around all of it, of each of several, or of one that ends a sentence; else None."""
    core = bare.strip("$ ").removeprefix("\\(").removesuffix("\\)").strip()
    first = BOXED.search(core, 0, 60)
    if first is None or (first.start() > 0 and _name_before(core, first.start(), whole=True) is None):
        return _at_the_end(core)
    parts, position = list[str](), 0
    for match in islice(BOXED.finditer(core), _MOST_PARTS):
        box = _box(core, match)
        if box is None or box.start < position:
            continue
        between = core[position : box.start]
        parts += [", " if position and not between.strip(" $") else between, box.inside]
        position = box.end
    if len(parts) == 2 and not parts[0]:
        return parts[1]
    return "".join([*parts, core[position:]]).strip() if parts else None


def _at_the_end(sentence: str) -> str | None:
    r"""What the only box of a sentence holds that ends with it: `The total is \(\boxed{12}\).`"""
    found = list(islice(BOXED.finditer(sentence), 2))
    box = _box(sentence, found[0]) if len(found) == 1 else None
    if box is None or not box.inside or sentence[box.end :].strip(" .$\\)]!*"):
        return None
    before = (
        sentence[max(0, box.start - 40) : box.start].rstrip(" $*").removesuffix("\\(").removesuffix("\\[").rstrip(" *")
    )
    return box.inside if _SAYS_WHAT_IT_IS.search(before) and any(map(str.isalpha, before)) else None


def ends_in_open_box(value: str) -> bool:
    """Whether the last box has not closed yet."""
    return any(_closing(value, box.end()) is None for box in deque(BOXED.finditer(value), maxlen=1))


def _box(text: str, match: re.Match[str]) -> _Box | None:
    end = _closing(text, match.end())
    if end is None:
        return None
    return _Box(match.start(), end + 1, without_label(text[match.end() + 1 : end].strip()))


def _holds_a_confidence(text: str, box: _Box) -> bool:
    return says_how_sure(text[max(0, box.start - 120) : box.start], box.inside)


def _is_list(text: str, one: _Box, next_one: _Box, name: str | None, next_name: str | None) -> bool:
    """Whether two boxes in a row are two parts of one answer, rather than a step and the answer."""
    between = text[one.end : next_one.start]
    found = _BETWEEN.fullmatch(between) if 0 < len(between) <= _LONGEST_BETWEEN else None
    if found is None:
        return one.end == next_one.start  # and no box inside another
    if next_name is not None:
        plain = "\n" not in between or bool(_ONE_LETTER.fullmatch(next_name))
        return name not in (None, next_name) and plain
    if found["item"] or any(character.isalpha() or character in ",;&" for character in between):
        return True
    if "\n" not in between:  # they stand side by side
        return True
    names = [match["name"] for inside in (one.inside, next_one.inside) if (match := _ASSIGNS.match(inside))]
    return len(set(names)) == 2


def _name_before(text: str, start: int, *, whole: bool = False) -> str | None:
    r"""The name that a box is the value of: `x = \boxed{2}`; `whole`: nothing else stands before it."""
    near = text[max(0, start - 40) : start]
    found = _NAME_BEFORE.search(near)
    return found["name"] if found and not (whole and near[: found.start()].strip("$ ")) else None


def _without_name(part: str, name: str | None) -> str:
    return part.removeprefix(f"{name} = ") if name else part


def _closing(text: str, start: int) -> int | None:
    """Where the brace that opens at `start` closes."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return None
