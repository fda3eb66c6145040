"""Answers and confidences that stand behind a label or in an element, collected as the tokens go by."""

import re

from demur.core.answers import ParseMode
from demur.core.parsing.dress import in_code, is_unfinished, split_label, tidy
from demur.core.parsing.kinds import Kind
from demur.core.parsing.lexer import Token
from demur.core.parsing.pairing import Mark, Pairing

_MARKS = {
    Kind.ANSWER: Kind.ANSWER,
    Kind.ANSWER_OPEN: Kind.ANSWER,
    Kind.CONFIDENCE: Kind.CONFIDENCE,
    Kind.CONFIDENCE_OPEN: Kind.CONFIDENCE,
}
_IN_ELEMENT = (Kind.ANSWER_OPEN, Kind.CONFIDENCE_OPEN)
_LIKE_TEXT = frozenset({Kind.TEXT, Kind.TURN, Kind.THOUGHT_SAID, Kind.RESPONSE_SAID})
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_LONGEST_BLOCK = 4000
"""Characters: a display formula or a box that is longer was never closed."""


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
        """Close the last value: the output ended."""
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
