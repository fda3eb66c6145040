"""Answers and confidences that stand behind a label or in an element, collected as the tokens go by."""

import re
from dataclasses import dataclass, field

from demur.core.answers import ParseMode
from demur.core.parsing.dress import BLOCK_CLOSERS, in_code, is_unfinished, same_words, split_label, tidy
from demur.core.parsing.grammar import Kind
from demur.core.parsing.lexer import Token

_MARKS = {
    Kind.ANSWER: Kind.ANSWER,
    Kind.ANSWER_OPEN: Kind.ANSWER,
    Kind.CONFIDENCE: Kind.CONFIDENCE,
    Kind.CONFIDENCE_OPEN: Kind.CONFIDENCE,
}
_IN_ELEMENT = (Kind.ANSWER_OPEN, Kind.CONFIDENCE_OPEN)
_LIKE_TEXT = frozenset({Kind.TEXT, Kind.TURN, Kind.THOUGHT_SAID, Kind.RESPONSE_SAID})
_ITEM = re.compile(r"[^\w<]{0,16}(?:<\w+>)?[^\w<]{0,4}([0-9]{1,2})(?:[.)、]|\ufe0f?\u20e3)")
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_LONGEST_BLOCK = 4000
"""Characters: a display formula or a box that is longer was never closed."""


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


class Marks:
    """Keeps the last two marks, and the last answer with its confidence; strict: the last of each kind."""

    def __init__(self, mode: ParseMode) -> None:
        self._mode: ParseMode = mode
        self._last: list[Mark] = []
        self._read: dict[Kind, Mark] = {}
        self._plain, self._quoted = Pairing(), Pairing()
        self._in_fence = False
        self._tidied: tuple[Mark | None, str | None] = None, None

    def take(self, token: Token) -> None:
        """One more token of the text, in order."""
        if token.kind is Kind.TEXT:
            if self._last:
                self._text(self._last[-1], token.raw)
        elif (kind := _MARKS.get(token.kind)) is not None:
            if self._in_element and self._last[-1].kind is Kind.CONFIDENCE:
                self._last[-1].clear()  # it was broken off
            self._close()
            self._last = [*self._last[-1:], self._begin(kind, token)]
        elif self._last and (token.kind in _LIKE_TEXT or (token.kind is Kind.FENCE and self._in_element)):
            self._text(self._last[-1], token.raw)
        elif token.kind is Kind.FENCE:
            self._fence()
        elif token.kind not in _LIKE_TEXT:
            self._close()

    def finish(self) -> None:
        self._close()

    @property
    def answer(self) -> str | None:
        """The last answer without its dress; None when there is none or it is empty."""
        mark = self._mark(Kind.ANSWER)
        if mark is None:
            return None
        if self._tidied[0] is not mark:
            self._tidied = mark, tidy(mark.value, self._mode, mark.label)
        return self._tidied[1]

    @property
    def answer_label(self) -> str:
        """The label of that answer, as written; empty where there is none."""
        mark = self._mark(Kind.ANSWER)
        return mark.label if mark else ""

    @property
    def answer_in_code(self) -> bool:
        """Whether that answer stands in inline code, and is meant as it is written."""
        mark = self._mark(Kind.ANSWER)
        return mark is not None and "`" in mark.value and in_code(mark.value.strip("*_ .")) is not None

    @property
    def answer_quoted(self) -> bool:
        """Whether that answer stands in code, in quotes or behind a `>`."""
        mark = self._mark(Kind.ANSWER)
        return mark is not None and mark.quoted

    @property
    def confidence(self) -> Mark | None:
        """What was stated for that answer, as written."""
        mark = self._mark(Kind.CONFIDENCE)
        return mark if mark and mark.value else None

    @property
    def _in_element(self) -> bool:
        return bool(self._last) and self._last[-1].open and self._last[-1].element

    @property
    def in_code(self) -> bool:
        return self._in_fence or bool(self._last and self._last[-1].open and self._last[-1].fenced)

    @property
    def trailing(self) -> bool:
        """Whether anything but blank lines followed the last mark so far."""
        return bool(self._last) and self._last[-1].trail

    def ends_with(self, *kinds: Kind) -> bool:
        """Strict: the text's last lines are exactly these marks, with nothing but blank lines between and after."""
        tail = self._last[-len(kinds) :]
        return tuple(mark.kind for mark in tail) == kinds and not any(mark.trail for mark in tail)

    def _begin(self, kind: Kind, token: Token) -> Mark:
        element = token.kind in _IN_ELEMENT
        if element or self._mode == "strict":
            return Mark(kind, element, token.raw, self._in_fence)
        label, opening = split_label(token.raw)
        quoted = self._in_fence
        if not quoted and not label[:1].isalpha():
            quoted = label.lstrip().startswith(">") or label.count('"') % 2 == 1
        return Mark(kind, element, label, quoted, [opening] * bool(opening))

    def _mark(self, kind: Kind) -> Mark | None:
        if self._mode == "strict":
            return self._read.get(kind)
        if self._plain.answer is None and self._quoted.answer is not None:
            answer, confidence = self._quoted.answer, self._plain.confidence or self._quoted.confidence
        else:
            answer, confidence = self._plain.answer, self._plain.confidence
            confidence = confidence or (self._quoted.confidence if answer is None else None)
        return answer if kind is Kind.ANSWER else confidence

    def _text(self, mark: Mark, text: str) -> None:
        if mark.open and mark.fenced:
            mark.write(text)
            return
        while mark.open and not mark.element:
            line, newline, text = text.partition("\n")
            mark.write(line)
            # Some write the value on the line below its label, or as a block of several; the contract does not.
            if not newline:
                break
            if self._ends(mark):
                self._close()
            else:
                mark.write("\n")
        if mark.open and mark.element:
            mark.write(text)
            text = ""
        mark.trail = mark.trail or bool(text.strip())

    def _ends(self, mark: Mark) -> bool:
        """Whether a value ends at the end of this line."""
        if self._mode == "strict":
            return True
        if not mark.parts or (mark.first_line and not mark.may_close and mark.length <= _LONGEST_BLOCK):
            return False  # a look at all of it is spared
        value = mark.value
        if not value:
            return False
        if value[0] in "=-" and _UNDERLINE.fullmatch(value) and not mark.label.rstrip().endswith((":", "：", "=")):
            mark.clear()  # of a heading
            return False
        mark.first_line = mark.first_line or len(mark.parts)
        return mark.kind is Kind.CONFIDENCE or mark.length > _LONGEST_BLOCK or not is_unfinished(value)

    def _fence(self) -> None:
        """Code begins or ends. Straight behind a label it is the value."""
        mark = self._last[-1] if self._last and self._last[-1].open and not self._last[-1].element else None
        if mark is not None and not mark.fenced and not mark.value and not self._in_fence:
            mark.fenced = True
            return
        self._close()
        if mark is None or not mark.fenced:
            self._in_fence = not self._in_fence

    def _close(self) -> None:
        if not self._last or not self._last[-1].open:
            return
        mark = self._last[-1]
        mark.open = False
        value = mark.value
        if mark.first_line and is_unfinished(value):  # the block never ended: its first line is all there is
            del mark.parts[mark.first_line :]
            value = mark.value
        if self._mode == "strict":
            self._read[mark.kind] = mark
        elif value:
            (self._quoted if mark.quoted else self._plain).add(mark)
