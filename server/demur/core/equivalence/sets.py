r"""Sets of real numbers: intervals, unions, inequalities in one variable, \mathbb{R} without some points.

Only what can be told without algebra: bounds are numbers. What holds a letter besides the one variable is left alone.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from demur.core.equivalence.arithmetic import evaluate
from demur.core.equivalence.number import Number
from demur.core.equivalence.pieces import ALL, INFINITY, Piece, Pieces, complement, intersection, point, union
from demur.core.equivalence.splitting import brackets_around, split

MAX_CHARS = 240
MAX_PARTS = 16
MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class RealSet:
    """Numbers, and the name of the one that is said to be among them: "x" of x > 2, "" where none is named."""

    pieces: Pieces
    variable: str = ""


_WORD_CLASSES = re.compile(
    r"(?:\\mathbb\{R\}|(?:(?:the )?set of )?(?:all )?(?:the )?real numbers|(?:the|all) (?:the )?reals|"
    r"(?:[a-z] (?:is|can be|=) )?(?:any|every|all) real(?:s| numbers?| values?(?: of [a-z])?)|"
    r"[a-z] is (?:a|any) real number)",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"\\(?:emptyset|varnothing)(?![A-Za-z])|\\\{\s*\\\}|\{\s*\}|(?:the )?empty set|(?:there (?:is|are) )?no solutions?",
    re.IGNORECASE,
)
_WITHOUT = re.compile(r"\s*(?:\\(?:setminus|backslash|smallsetminus)(?![A-Za-z])|(?<=\})\s*[-\\]\s*(?=\\?\{))\s*")
_EXCEPT = re.compile(r",?\s+(?:except(?: for)?|but not|other than|excluding|without)\s+", re.IGNORECASE)
_BOUNDED = re.compile(
    r"(?:all )?(?:the )?real numbers (?:that are )?(greater|larger|bigger|less|smaller) than (or equal to )?(.+)",
    re.IGNORECASE,
)
_SUCH_THAT = re.compile(
    r"(?:all|every|any) (?:real )?(?:numbers? |values? )?(?:of )?(?:[a-z] )?(?:such that|with|where|for which) "
)
_UNION = re.compile(r"\s*\\(?:cup|lor|vee)(?![A-Za-z])\s*")
_OR = re.compile(r"\s*,?\s*\bor\b\s*")
_CLEARLY_INTERVAL = re.compile(r"\\infty|[<>\[\]]|\\(?:le|ge)(?![A-Za-z])")
_BOTH = re.compile(r"\s*\\(?:cap|land|wedge)(?![A-Za-z])\s*")
_AND = re.compile(r"\s*,?\s*\band\b\s*")
_COMMA = re.compile(r"\s*[,;]\s*")
_SIGN = re.compile(r"\s*(<|>|\\le(?![A-Za-z])|\\ge(?![A-Za-z])|\\ne(?![A-Za-z])|(?<![<>=])=(?!=))\s*")
_VARIABLE = re.compile(r"[A-Za-z]|\\(?:theta|alpha|beta|lambda|mu|phi)")
_MEMBER = re.compile(r"([A-Za-z]|\\theta)\s*\\in(?![A-Za-z])\s*(.+)", re.DOTALL)
_BUILDER = re.compile(
    r"\\?\{\s*([A-Za-z])\s*(?:\\in\s*\\mathbb\{R\}\s*)?(?:\||:|\\mid(?![A-Za-z]))\s*(.+?)\s*\\?\}", re.DOTALL
)
_ITEM = re.compile(r"\s*[,;]\s*(?:and\s+)?|\s+(?:and|or)\s+")
_NAMED = re.compile(r"[A-Za-z]\s*(?:=|\\ne(?![A-Za-z]))\s*")
_SIGNS = re.compile(r"[<>{\\]")
_WORDS = ("real", "empty set", "no solution")
_TURNED = {"<": ">", ">": "<", "\\le": "\\ge", "\\ge": "\\le"}


def read_set(text: str) -> RealSet | None:
    """The set that a normalized text names; None for other text, and for a lone pair in brackets or a lone finite set,
    which may be a point or a list."""
    if len(text) > MAX_CHARS:
        return None
    if _SIGNS.search(text) is None:
        lower = text.lower()
        if not any(word in lower for word in _WORDS):
            return None
    return _read(text, 0)


def _read(text: str, depth: int) -> RealSet | None:
    text = text.strip()
    if not text or depth > MAX_DEPTH:
        return None
    if _WORD_CLASSES.fullmatch(text):
        return RealSet(ALL)
    if _EMPTY.fullmatch(text):
        return RealSet(())
    named = _named(text, depth)
    if named is not None:
        return named
    for separator, join in ((_OR, _any), (_UNION, _any), (_BOTH, _all)):
        parts = split(text, separator)
        if 1 < len(parts) <= MAX_PARTS:
            if separator is _OR and _CLEARLY_INTERVAL.search(text) is None:
                return None  # (1, 2) or (3, 4) may be two points
            return _joined([_part(part, depth + 1) for part in parts], join)
    return _relation(text) or _all_but(text, depth) or _both(split(text, _AND), depth)


def _named(text: str, depth: int) -> RealSet | None:
    r"""What is said of a variable by x \in S, \{x : ...\} or "all x such that"."""
    if match := _BUILDER.fullmatch(text):
        found = _read(match[2], depth + 1)
        return found if found is not None and found.variable in ("", match[1]) else None
    if match := _MEMBER.fullmatch(text):
        found = _part(match[2], depth + 1)
        return None if found is None else RealSet(found.pieces, match[1])
    if match := _SUCH_THAT.match(text):
        return _read(text[match.end() :], depth + 1)
    if match := _BOUNDED.fullmatch(text):
        up = match[1].lower() in ("greater", "larger", "bigger")
        value = _number(match[3])
        return None if value is None else RealSet(_ray(value, upwards=up, closed=bool(match[2])))
    return None


def _both(parts: list[str], depth: int) -> RealSet | None:
    """ "x > 1 and x < 3". Between intervals "and" lists them, and what nothing fulfils was hardly meant."""
    if not 1 < len(parts) <= MAX_PARTS:
        return None
    found = _joined([_read(part, depth + 1) for part in parts], _all)
    return found if found is not None and found.variable and found.pieces else None


def _part(text: str, depth: int) -> RealSet | None:
    """A part of a union or such: here brackets and braces are sets, and an equation is its one solution."""
    text = text.strip()
    return _interval(text) or _finite(text) or _solved(text) or _read(text, depth)


def _solved(text: str) -> RealSet | None:
    variable, equals, value = text.partition("=")
    number = _number(value) if equals and _VARIABLE.fullmatch(variable.strip()) else None
    return None if number is None else RealSet((point(number),), variable.strip())


def _joined(parts: list[RealSet | None], join: Callable[[list[Pieces]], Pieces]) -> RealSet | None:
    """Of parts that are all sets and about the same variable."""
    sets = [part for part in parts if part is not None]
    if len(sets) < len(parts) or len({part.variable for part in sets}) > 1:
        return None
    return RealSet(join([part.pieces for part in sets]), sets[0].variable)


def _any(parts: list[Pieces]) -> Pieces:
    return union(piece for pieces in parts for piece in pieces)


def _all(parts: list[Pieces]) -> Pieces:
    common = parts[0]
    for pieces in parts[1:]:
        common = intersection(common, pieces)
    return common


def _interval(text: str) -> RealSet | None:
    brackets, inside = brackets_around(text)
    bounds = split(inside, _COMMA)
    if len(brackets) != 2 or brackets == "{}" or len(bounds) != 2:
        return None
    low, high = map(_number, bounds)
    has_low, has_high = brackets[0] == "[", brackets[1] == "]"
    if low is None or high is None or (has_low and low == -INFINITY) or (has_high and high == INFINITY):
        return None
    return RealSet(intersection((Piece(low, high, has_low, has_high),), ALL))


def _finite(text: str) -> RealSet | None:
    brackets, inside = brackets_around(text)
    if brackets != "{}":
        return None
    return _points(split(inside, _ITEM))


def _points(items: Iterable[str]) -> RealSet | None:
    values = [_number(_NAMED.sub("", item, count=1) if _NAMED.match(item) else item) for item in items]
    known = [value for value in values if value is not None]
    return RealSet(union(map(point, known))) if known and len(known) == len(values) else None


def _all_but(text: str, depth: int) -> RealSet | None:
    r"""\mathbb{R}\setminus\{0\}, "all real numbers except 1 and 2"."""
    for separator in (_WITHOUT, _EXCEPT):
        parts = split(text, separator)
        if len(parts) == 2:
            whole, less = _part(parts[0], depth + 1), _part(parts[1], depth + 1) or _points(split(parts[1], _ITEM))
            if whole is None or less is None or (whole.variable and less.variable not in ("", whole.variable)):
                return None
            return RealSet(intersection(whole.pieces, complement(less.pieces)), whole.variable)
    return None


def _relation(text: str) -> RealSet | None:
    r"""x < 2, 1 \le x < 3, x \ne 0, 1. An equation alone is none: it gives a value."""
    terms = split(text, _SIGN)
    signs = [match[1] for match in _SIGN.finditer(text)]
    if len(signs) != len(terms) - 1 or not 2 <= len(terms) <= 3:
        return None
    names = [i for i, term in enumerate(terms) if _VARIABLE.fullmatch(term.strip())]
    if len(names) != 1 or (len(terms) == 3 and names != [1]):
        return None
    at, variable = names[0], terms[names[0]].strip()
    if signs == ["\\ne"]:
        points = _points(split(terms[1 - at], _ITEM))
        return None if points is None else RealSet(complement(points.pieces), variable)
    pieces = ALL
    for i, sign in enumerate(signs):
        value = _number(terms[i + 1 if i >= at else i])
        if value is None or sign not in _TURNED:
            return None
        sign = sign if i >= at else _TURNED[sign]
        pieces = intersection(pieces, _ray(value, upwards=sign in (">", "\\ge"), closed=sign in ("\\le", "\\ge")))
    return RealSet(pieces, variable)


def _ray(value: Number, *, upwards: bool, closed: bool) -> Pieces:
    return (Piece(value, INFINITY, closed, False),) if upwards else (Piece(-INFINITY, value, False, closed),)


def _number(text: str) -> Number | None:
    text = text.strip()
    sign = text[:1] if text[:1] in ("+", "-") else ""
    if text[len(sign) :].strip() == "\\infty":
        return -INFINITY if sign == "-" else INFINITY
    return evaluate(text)
