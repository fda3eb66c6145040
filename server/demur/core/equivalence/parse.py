r"""Normalized answer -> what it means, as far as that can be told without a computer algebra system."""

import re
from dataclasses import dataclass
from fractions import Fraction

from demur.core.equivalence.arithmetic import evaluate
from demur.core.equivalence.compounds import Compound, read_compound
from demur.core.equivalence.dates import Foreign, read_date, read_foreign_date, with_iso_dates
from demur.core.equivalence.normalize import MAX_CHARS, normalize
from demur.core.equivalence.number import number_key
from demur.core.equivalence.separators import without_thousands
from demur.core.equivalence.sets import RealSet, read_set
from demur.core.equivalence.splitting import brackets_around, split
from demur.core.equivalence.text import is_text, text_key
from demur.core.equivalence.unit_names import PERCENT
from demur.core.equivalence.units import Quantity, read_quantity

MAX_ITEMS = 64
MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Text:
    """Words; `key` is equal for equal texts, `written` is what they were made of."""

    key: str
    written: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Several answers in one. A bare list ("2, 3") and a set have no order; a tuple, point or interval has.

    `brackets` is "()", "[)", "{}" and so on, "" for a bare list and "∪" for a union. A matrix is a list of lists.
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


@dataclass(frozen=True, slots=True)
class Assigned:
    """One of several values that are told apart by their names: the x = 1 of "x = 1, y = 2"."""

    name: str
    value: "Meaning"


Meaning = Quantity | Compound | Text | Foreign | Listing | RealSet | Assigned | Formula

_PLAIN = re.compile(r"(?:[+-](?!0\d))?\d{1,15}(?:\.\d{1,15})?", re.ASCII)
_DIGITS = r"((?!0\d)\d{1,9})"
_AMOUNT = r"((?!0\d)\d{1,12}(?:\.\d{1,12})?)"
_QUICK = re.compile(
    rf"([+-]?)(?:\\[dt]?frac\{{{_DIGITS}\}}\{{{_DIGITS}\}}|{_DIGITS}/{_DIGITS}|\\?\${_AMOUNT}|{_AMOUNT}\\?%)", re.ASCII
)
"""The commonest numbers, read at once: nothing else about them would change what they say."""
_LETTER = re.compile(r"\(?([A-Za-z])\)?[.:]?")
_SUBSCRIPT = r"(?:_\{?\w+\}?|'+)?"
_NAME = (
    rf"(?:[A-Za-z]{_SUBSCRIPT}(?:\s*\([^()=]{{1,20}}\))?|\\(?:theta|alpha|beta|gamma|lambda|mu|phi|omega){_SUBSCRIPT}"
    r"|\|[A-Z]{2,3}\||\\overline\s*\{[A-Z]{1,3}\}|m?\s?\\angle\s*\{?[A-Z]{1,3}\}?"
    r"|\(\s*[A-Za-z](?:\s*,\s*[A-Za-z])+\s*\)|[A-Za-z]+(?: [A-Za-z]+){0,3})"
)
_ASSIGNED = re.compile(rf"({_NAME})\s*=(?!=)\s*(.+)", re.DOTALL)
_ASSIGNED_TO = re.compile(rf"(.+?)\s*(?<![<>=!:])=\s*({_NAME})", re.DOTALL)
_MEMBER = re.compile(r"([a-z])\s*\\in(?![a-zA-Z])\s*(.+)", re.DOTALL)
_RELATION = re.compile(r"[=<>]|\\(?:le|ge|ne|in)(?![a-zA-Z])")
_PLUS_MINUS = re.compile(r"\\(?:pm|mp)(?![a-zA-Z])")
_UNION = re.compile(r"\\cup(?![a-zA-Z])")
_EQUALS = re.compile(r"(?<![<>=!:])=(?!=)")
_SEPARATOR = re.compile(r",?\s+(?:and|or)\s+|[,;]")
_ENVIRONMENT = r"(?:[pbB]?(?:small)?matrix|array)"
_MATRIX = re.compile(
    rf"[(\[]?\s*\\begin\s*\{{{_ENVIRONMENT}\}}(?:(?<=array\}})\s*\{{[lcr ]*\}})?(.*)"
    rf"\\end\s*\{{{_ENVIRONMENT}\}}\s*[)\]]?",
    re.DOTALL,
)
_IN_CODE = re.compile(r"(?:(?:np|numpy|sp|sympy|torch)\.)?(?:array|Matrix|tensor)\(\s*(\[.*\])\s*\)", re.DOTALL)
_ROW = re.compile(r"\\\\(?:\[[^\]&]{1,12}\])?")
_CELL = re.compile("&")
_AFTER_CHRIST = re.compile(r"year (\d{4}) ad")


def meaning(answer: str) -> Meaning | None:
    """What an answer means: a quantity, a date, words, a set, a list, a formula and so on; None when there is none."""
    if _PLAIN.fullmatch(answer):
        return Quantity(Fraction(answer), "")
    quick = _QUICK.fullmatch(answer)
    if quick is not None and (quantity := _quickly(quick)) is not None:
        return quantity
    text = normalize(answer)
    return _read(text, 0) if text else None


def _quickly(match: re.Match[str]) -> Quantity | None:
    sign, top, bottom, over, under, dollars, percent = match.groups()
    below = int(bottom or under or (100 if percent else 1))
    if below == 0:
        return None
    value = Fraction(top or over or dollars or percent) / below
    return Quantity(-value if sign == "-" else value, "dollar" if dollars else PERCENT if percent else "")


def _read(text: str, depth: int) -> Meaning:
    if len(text) > MAX_CHARS:
        return Text(text)
    moment = read_date(text)
    if moment is not None:
        year = _AFTER_CHRIST.fullmatch(moment)
        return Quantity(Fraction(year[1]), "") if year else Text(text_key(moment), text)
    quantity = read_quantity(text)
    if quantity is not None:
        return quantity
    letter = _LETTER.fullmatch(text)
    if letter:
        return Text(letter[1].lower(), text)
    found = read_set(text) or (_parts(text, depth) if depth < MAX_DEPTH else None)
    if found is not None:
        return found
    dated = with_iso_dates(text)
    if dated == text and not is_text(text):
        return Formula(text)
    return read_foreign_date(text) or Text(text_key(dated), text)


def _parts(text: str, depth: int) -> Meaning | None:
    if "\\approx" in text and (exact := _before_approximation(text)):
        return _read(exact, depth + 1)
    if text[0].isdigit() and (compound := read_compound(text)) is not None:
        return compound
    return _matrix(text, depth) or _listing(text, depth) or _renamed(text, depth)


def _before_approximation(text: str) -> str:
    r"""Of "x = \frac{1}{3} \approx 0.33" what stands before the rounded value; "" where that is no number."""
    exact, _, rounded = text.partition("\\approx")
    value = split(exact, _EQUALS)[-1].strip()
    return exact.strip() if evaluate(value) is not None and evaluate(rounded.strip()) is not None else ""


def _renamed(text: str, depth: int) -> Meaning | None:
    r"""What "x = 5", "5 = x", "|AB| = 5" and "x \in [2, 3]" say of x; None where no side is a lone name."""
    if "=" not in text and "\\in" not in text:
        return None
    if match := _ASSIGNED.fullmatch(text) or _MEMBER.fullmatch(text):
        value = match[2]
    elif (match := _ASSIGNED_TO.fullmatch(text)) and not is_text(match[1]):
        value = match[1]
    else:
        value = ""
    if not value or _RELATION.search(value):
        value = _end_of_chain(text)
    return _read(value.strip(), depth + 1) if value else None


def _end_of_chain(text: str) -> str:
    """Of "m+n = 256+37 = 293" the number it ends in; "" for what does not work out one number step by step."""
    steps = split(text, _EQUALS)
    values = [evaluate(without_thousands(step.strip())) for step in steps[1:]] if 3 <= len(steps) <= 8 else []
    if not values or None in values or evaluate(steps[0]) is not None:
        return ""
    return steps[-1] if len({number_key(value) for value in values if value is not None}) == 1 else ""


def _matrix(text: str, depth: int) -> Listing | None:
    """A matrix in any environment but that of a determinant; in code it is a list of lists."""
    if code := _IN_CODE.fullmatch(text):
        found = _listing(code[1], depth)
        return found if isinstance(found, Listing) else None
    match = _MATRIX.fullmatch(text) if "\\begin" in text else None
    if match is None or "\\begin" in match[1] or "\\hline" in match[1]:
        return None
    rows = split(match[1], _ROW)
    rows = rows[:-1] if not rows[-1].strip() else rows
    return _table([[cell.strip() for cell in split(row, _CELL)] for row in rows], depth)


def _table(rows: list[list[str]], depth: int) -> Listing | None:
    """Rows of one length, or None."""
    if not rows or len({len(row) for row in rows}) > 1 or not all(cell for row in rows for cell in row):
        return None
    if len(rows) * len(rows[0]) > MAX_ITEMS:
        return None
    read = [Listing("[]", tuple(_read(cell, depth + 1) for cell in row)) for row in rows]
    return Listing("[]", tuple(read))


def _listing(text: str, depth: int) -> Meaning | None:
    if "\\" in text and len(union := split(text, _UNION)) > 1:
        return _items("∪", union, depth)
    brackets, inside = brackets_around(text)
    parts = split(inside if brackets else without_thousands(text), _SEPARATOR)
    if _PLUS_MINUS.search(text):
        if len(parts) > 1 and brackets in ("", "{}"):
            return _items(brackets, [signed for part in parts for signed in _both_signs(part)], depth)
        return _items("", _both_signs(text), depth) if len(_PLUS_MINUS.findall(text)) == 1 else None
    if brackets == "[]":
        rows = [brackets_around(part.strip()) for part in parts]
        if all(row[0] == "[]" for row in rows):
            return _table([[cell.strip() for cell in split(row[1], _SEPARATOR)] for row in rows], depth)
    if len(parts) < 2 and not text.startswith("\\{"):
        return _read(inside, depth + 1) if brackets == "{}" and inside else None
    return _items(brackets, parts, depth)


def _both_signs(text: str) -> list[str]:
    r"""1 \pm 2 as 1 + 2 and 1 - 2; with several of these signs, or none, the text as it is."""
    return [_PLUS_MINUS.sub(sign, text) for sign in "+-"] if len(_PLUS_MINUS.findall(text)) == 1 else [text]


def _items(brackets: str, parts: list[str], depth: int) -> Listing | None:
    """None when a part is empty or made of words: a name with a comma in it is one answer."""
    parts = [part.strip() for part in parts]
    if len(parts) > MAX_ITEMS or not all(parts):
        return None
    named = [_ASSIGNED.fullmatch(part) for part in parts]
    if len({match[1] for match in named if match}) > 1:
        return Listing(brackets, tuple(_assigned(part, match, depth) for part, match in zip(parts, named, strict=True)))
    items = tuple(_read(part, depth + 1) for part in parts)
    if any(isinstance(item, Foreign) or (isinstance(item, Text) and len(item.key) > 1) for item in items):
        return None
    return Listing(brackets, items)


def _assigned(part: str, match: re.Match[str] | None, depth: int) -> Meaning:
    if match is None or _RELATION.search(match[2]):
        return Formula(part)
    return Assigned("".join(match[1].split()), _read(match[2].strip(), depth + 1))
