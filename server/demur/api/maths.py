"""`POST /page/maths`: the page's formulas, from LaTeX to trees of MathML elements.

What a model writes is hostile until shown otherwise. So a tree is data, never markup: the page builds elements from it,
and this is the allow-list of what can be in it. A formula that has anything else, or cannot be converted, is null, and
the page shows its LaTeX.
"""

import asyncio
import importlib
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypeVar
from xml.etree.ElementTree import Element

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, Field

from demur.api.auth import KeyedRoute
from demur.api.errors import ApiError
from demur.fields import BoundedModel

T = TypeVar("T")

MAX_FORMULA = 1_000
MAX_FORMULAS = 32
MAX_TOTAL = 8_000
"""Characters of all formulas of one request: about a quarter of a second of work at worst."""
AT_ONCE, MAX_WAITING = 1, 8
"""Requests that are converted at once, in worker threads, and that wait for one: past it comes a 429. They share one
interpreter with every stream, so that a second thread would only take time from those."""
MAX_DEPTH = 60

ELEMENTS = frozenset(
    [
        *("math", "mrow", "mstyle", "mpadded", "mphantom", "menclose", "mtable", "mtr", "mtd"),
        *("mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot"),
        *("msub", "msup", "msubsup", "mover", "munder", "munderover"),
    ]
)
ATTRIBUTES = frozenset(
    [
        *("accent", "fence", "form", "stretchy", "minsize", "maxsize", "movablelimits", "separator"),
        *("columnalign", "displaystyle", "linethickness", "mathvariant", "notation", "scriptlevel", "width"),
    ]
)
_VALUE = re.compile(r"[a-z]{1,20}|[+-]?\d{0,2}(\.\d{1,4})?(em)?")
_ENTITY = re.compile(r"&#x((?:10|0?[0-9A-Fa-f])?[0-9A-Fa-f]{1,4});")
_INVISIBLE_OPERATORS = "\u2061\u2062\u2063\u2064"
"""Function application, times, separator, plus. Other invisible characters could make a formula read as another."""
_DEFINES = re.compile(r"\\(def|[gex]def|let|(re)?newcommand|providecommand|newenvironment)(?![A-Za-z])")
"""A macro can make a short formula long, and one formula must not change the next."""
_ALIGNED = re.compile(r"\\(begin|end)\{(aligned|alignedat|gathered|eqnarray\*?|align)\}")
"""Environments that the converter does not have or would number; `align*` lays them out alike."""

Tree = list[Any] | str
"""Text, or [element name, attributes, child, ...]."""


def _within_total(formulas: list["Formula"]) -> list["Formula"]:
    if sum(len(formula.latex) for formula in formulas) > MAX_TOTAL:
        raise ValueError(f"at most {MAX_TOTAL} characters in one request")
    return formulas


class Formula(BoundedModel):
    """LaTeX without its delimiters; `display` for one that stands on its own line."""

    latex: str = Field(max_length=MAX_FORMULA)
    display: bool = False


class MathsRequest(BoundedModel):
    formulas: Annotated[list[Formula], Field(max_length=MAX_FORMULAS, fail_fast=True), AfterValidator(_within_total)]


class MathsReply(BaseModel):
    """One tree for each formula, in order; null where there is none."""

    formulas: list[Tree | None]


class Threads:
    """Worker threads of one route, with a short line before them: its callers take none from anything else."""

    def __init__(self, at_once: int, max_waiting: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._room = at_once + max_waiting

    async def run(self, work: Callable[[], T]) -> T:
        """Raises ApiError 429 when the line is full."""
        if not self._room:
            raise ApiError(429, "rate_limited", "too many formulas at once; try again", headers={"retry-after": "1"})
        self._room -= 1
        try:
            async with self._free:
                return await asyncio.to_thread(work)
        finally:
            self._room += 1


def make_router() -> APIRouter:
    """The route of one app."""
    router = APIRouter(include_in_schema=False, route_class=KeyedRoute)
    threads = Threads(AT_ONCE, MAX_WAITING)

    @router.post("/page/maths")
    async def maths(asked: MathsRequest) -> MathsReply:
        def convert() -> MathsReply:
            return MathsReply(formulas=[to_tree(formula.latex, formula.display) for formula in asked.formulas])

        return await threads.run(convert)

    return router


def to_tree(latex: str, display: bool = False) -> Tree | None:
    """The formula as a tree whose root is a `math` element; None when it cannot be shown as maths."""
    if _DEFINES.search(latex):
        return None
    found = _convert(_ALIGNED.sub(r"\\\1{align*}", latex), display)
    try:
        return None if found is None else _tree(found, MAX_DEPTH)
    except NotAllowed:
        return None


class NotAllowed(Exception):
    """The converter made something that is not on the list."""


def _convert(latex: str, display: bool) -> Element | None:
    """Imported at the first formula: starting a server needs no converter."""
    converter = importlib.import_module("latex2mathml.converter")
    try:
        return converter.convert_to_element(latex, display="block" if display else "inline")
    except Exception:  # noqa: BLE001 the converter has a dozen errors for bad LaTeX, no common base, and IndexErrors
        return None


def _tree(element: Element, depth: int) -> Tree:
    if element.tag not in ELEMENTS or depth == 0:
        raise NotAllowed(element.tag)
    attributes = {name: value for name, value in element.attrib.items() if _is_allowed(name, value)}
    return [element.tag, attributes, *_text(element.text), *(_tree(child, depth - 1) for child in element)]


def _is_allowed(name: str, value: str) -> bool:
    return name in ATTRIBUTES and _VALUE.fullmatch(value) is not None


def _text(text: str | None) -> Iterator[str]:
    """What an element says. A command that the converter does not know would be shown by its name: better all LaTeX."""
    if not text:
        return
    if text.startswith("\\"):
        raise NotAllowed(text)
    shown = _ENTITY.sub(lambda entity: chr(int(entity[1], 16)), text)
    if any(unicodedata.category(char)[0] == "C" and char not in _INVISIBLE_OPERATORS for char in shown):
        raise NotAllowed(text)
    yield shown
