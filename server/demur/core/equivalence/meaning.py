r"""Normalised answer -> what it means, as far as that can be told without a computer algebra system."""

import re
from dataclasses import dataclass

from demur.core.equivalence.clean import MAX_CHARS, normalise
from demur.core.equivalence.text import is_text, text_key
from demur.core.equivalence.units import Quantity, read_quantity, without_thousands

MAX_ITEMS = 64
MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Text:
    """Words; `key` is equal for equal texts."""

    key: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Several answers in one. A bare list ("2, 3") and a set have no order; a tuple, point or interval has.

    `brackets` is "()", "[)", "{}" and so on, "" for a bare list and "∪" for a union.
    """

    brackets: str
    items: tuple["Meaning", ...]

    @property
    def ordered(self) -> bool:
        return self.brackets not in ("", "{}", "∪")


@dataclass(frozen=True, slots=True)
class Formula:
    """LaTeX that only algebra can compare."""

    latex: str


Meaning = Quantity | Text | Listing | Formula

_LETTER = re.compile(r"\(?([A-Za-z])\)?[.:]?")
_ASSIGNED = re.compile(r"([A-Za-z](?:_\{?\w+\}?|'+)?(?:\s*\([^()=]{1,20}\))?)\s*=(?!=)\s*(.+)", re.DOTALL)
_ASSIGNED_TO = re.compile(r"(.+?)\s*(?<![<>=!:])=\s*([A-Za-z](?:_\{?\w+\}?|'+)?)", re.DOTALL)
_MEMBER = re.compile(r"([a-z])\s*\\in(?![a-zA-Z])\s*(.+)", re.DOTALL)
_RELATION = re.compile(r"[=<>]|\\(?:le|ge|ne|in)(?![a-zA-Z])")
_PLUS_MINUS = re.compile(r"\\(?:pm|mp)(?![a-zA-Z])")
_UNION = re.compile(r"\\cup(?![a-zA-Z])")
_CLOCK = re.compile(r"(\d{1,2}:\d{2}(?::\d{2})?)\s*([ap])\.?\s?m\.?", re.IGNORECASE)
_OPENING, _CLOSING = "([{", ")]}"
_SEPARATOR = re.compile(r",?\s+(?:and|or)\s+|[,;]")


def meaning(answer: str) -> Meaning | None:
    """None when there is no answer in it."""
    text = normalise(answer)
    return _read(text, 0) if text else None


def _read(text: str, depth: int) -> Meaning:
    if len(text) > MAX_CHARS:
        return Text(text)
    quantity = read_quantity(text)
    if quantity is not None:
        return quantity
    letter = _LETTER.fullmatch(text)
    if letter:
        return Text(letter[1].lower())
    clock = _CLOCK.fullmatch(text)
    if clock:
        return Text(f"{clock[1]} {clock[2].lower()}m")
    if depth < MAX_DEPTH:
        found = _listing(text, depth) or _renamed(text, depth)
        if found is not None:
            return found
    return Text(text_key(text)) if is_text(text) else Formula(text)


def _renamed(text: str, depth: int) -> Meaning | None:
    r"""What "x = 5", "5 = x" and "x \in [2, 3]" say of x; None where no side is a lone name."""
    if match := _ASSIGNED.fullmatch(text) or _MEMBER.fullmatch(text):
        value = match[2]
    elif (match := _ASSIGNED_TO.fullmatch(text)) and not is_text(match[1]):
        value = match[1]
    else:
        return None
    if _RELATION.search(value):
        return None
    return _read(value.strip(), depth + 1)


def _listing(text: str, depth: int) -> Meaning | None:
    union = _split(text, _UNION)
    if len(union) > 1:
        return _items("∪", union, depth)
    if len(_PLUS_MINUS.findall(text)) == 1:
        return _items("", [_PLUS_MINUS.sub(sign, text) for sign in "+-"], depth)
    brackets, inside = _brackets(text)
    parts = _split(inside if brackets else without_thousands(text), _SEPARATOR)
    if len(parts) < 2 and not text.startswith("\\{"):
        return _read(inside, depth + 1) if brackets == "{}" and inside else None
    return _items(brackets, parts, depth)


def _items(brackets: str, parts: list[str], depth: int) -> Listing | None:
    """None when a part is empty or made of words: a name with a comma in it is one answer."""
    parts = [part.strip() for part in parts]
    if len(parts) > MAX_ITEMS or not all(parts):
        return None
    if len({match[1] for match in map(_ASSIGNED.fullmatch, parts) if match}) > 1:
        return Listing(brackets, tuple(Formula(part) for part in parts))  # x = 1, y = 2: the names matter
    items = tuple(_read(part, depth + 1) for part in parts)
    if any(isinstance(item, Text) and len(item.key) > 1 for item in items):
        return None
    return Listing(brackets, items)


def _brackets(text: str) -> tuple[str, str]:
    r"""The pair of brackets around a whole text and what is inside; ("", text) without one. \{ \} are a set's."""
    opening = text[:2] if text.startswith("\\{") else text[:1]
    closing = text[-2:] if text.endswith("\\}") else text[-1:]
    pair = opening[-1:] + closing[-1:]
    if pair not in ("()", "[]", "(]", "[)", "{}") or len(opening) != len(closing):
        return "", text
    inside = text[len(opening) : len(text) - len(closing)]
    return (pair, inside.strip()) if _balanced(inside) else ("", text)


def _balanced(inside: str) -> bool:
    """Whether no bracket in it closes one that was opened before it."""
    depth = 0
    for character in inside:
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth < 0:
            return False
    return depth == 0


def _split(text: str, separator: re.Pattern[str]) -> list[str]:
    """The pieces between separators that stand outside every bracket."""
    pieces: list[str] = []
    start = depth = position = 0
    while position < len(text):
        character = text[position]
        depth += (character in _OPENING) - (character in _CLOSING)
        match = separator.match(text, position) if depth == 0 else None
        if match is None:
            position += 1
            continue
        pieces.append(text[start:position])
        start = position = match.end()
    return [*pieces, text[start:]]
