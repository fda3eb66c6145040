"""Labelled values, and which confidence belongs to which answer."""

import re
from dataclasses import dataclass, field

from demur.core.parsing.dress import BLOCK_CLOSERS, same_words
from demur.core.parsing.kinds import Kind

_ITEM = re.compile(r"[^\w<]{0,16}(?:<\w+>)?[^\w<]{0,4}([0-9]{1,2})(?:[.)、]|\ufe0f?\u20e3)")


@dataclass(slots=True)
class Mark:
    """One labelled value: `kind` is ANSWER or CONFIDENCE, `trail` whether something else follows it."""

    kind: Kind
    element: bool
    label: str
    quoted: bool
    """Stands in code, in quotes or behind a `>`: read only where nothing else is."""
    parts: list[str] = field(default_factory=list[str])
    first_line: int = 0
    """How many of the parts the first line that says anything has."""
    open: bool = True
    fenced: bool = False
    trail: bool = False
    length: int = 0
    """Of the parts, in characters."""
    may_close: bool = False
    """Whether a character stands there that may end a block of several lines."""

    def write(self, piece: str) -> None:
        """More of the value; space before it is none of it."""
        if piece and (self.parts or not piece.isspace()):
            self.parts.append(piece)
            self.length += len(piece)
            self.may_close = self.may_close or any(character in piece for character in BLOCK_CLOSERS)

    def clear(self) -> None:
        """Forget the value, keep the label."""
        self.parts.clear()
        self.length, self.may_close = 0, False

    @property
    def value(self) -> str:
        return "".join(self.parts).strip()

    @property
    def item(self) -> str | None:
        """The number of the item of a list that its label stands in."""
        match = None if self.label[:1].isalpha() else _ITEM.match(self.label)
        return match[1] if match else None


@dataclass(slots=True)
class Pairing:
    """The last answer and the confidence that was stated for it.

    A confidence belongs to the answer before it, or to the one behind it where an output begins with a confidence; it
    never passes on to an answer that says something else.
    """

    answer: Mark | None = None
    confidence: Mark | None = None
    _ahead: bool = False
    _waiting: Mark | None = None  # a confidence whose answer is still to come
    _listed: bool = False  # answers under several numbers stood there

    def add(self, mark: Mark) -> None:
        """Take the next labelled value: a confidence joins its answer, a new answer replaces the last."""
        if mark.kind is Kind.CONFIDENCE:
            self._ahead = self._ahead or (self.answer is None and self.confidence is None)
            self.confidence = mark
            self._waiting = mark if self._ahead else None
            return
        if self._lists(mark):
            return
        if self._waiting is not None:
            self.confidence, self._waiting = self._waiting, None
        elif self.answer is not None and not same_words(self.answer.value, mark.value):
            self.confidence = None
        self.answer = mark

    def _lists(self, mark: Mark) -> bool:
        """Several answers under several numbers: none of them is said to be the one."""
        if mark.item is None:
            self._listed = False
        elif self._listed or (self.answer is not None and self.answer.item not in (None, mark.item)):
            self._listed, self.answer, self.confidence = True, None, None
        return self._listed
