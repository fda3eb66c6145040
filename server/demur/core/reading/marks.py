"""Answers and confidences that stand behind a label or in an element, collected as the tokens go by."""

import re
from dataclasses import dataclass, field

from demur.core.answers import Mode
from demur.core.reading.grammar import Kind
from demur.core.reading.lexer import Token

_MARKS = {
    Kind.ANSWER: Kind.ANSWER,
    Kind.ANSWER_OPEN: Kind.ANSWER,
    Kind.CONFIDENCE: Kind.CONFIDENCE,
    Kind.CONFIDENCE_OPEN: Kind.CONFIDENCE,
}
_IN_ELEMENT = (Kind.ANSWER_OPEN, Kind.CONFIDENCE_OPEN)
_BOXED = re.compile(r"\\(?:boxed|fbox)\s{0,4}(?=\{)")


@dataclass(slots=True)
class Mark:
    """One labelled value: `kind` is ANSWER or CONFIDENCE, `trail` whether something else follows it."""

    kind: Kind
    element: bool
    parts: list[str] = field(default_factory=list[str])
    open: bool = True
    trail: bool = False

    @property
    def value(self) -> str:
        return "".join(self.parts).strip()


class Marks:
    """Keeps the last two marks and the last non-empty one of each kind: the last match wins."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._last: list[Mark] = []
        self._read: dict[Kind, Mark] = {}

    def take(self, token: Token) -> None:
        """One more token of the text, in order."""
        kind = _MARKS.get(token.kind)
        if kind is not None:
            self._close()
            self._last = [*self._last[-1:], Mark(kind, token.kind in _IN_ELEMENT)]
        elif self._last and token.kind is Kind.TEXT:
            self._text(self._last[-1], token.raw)
        else:
            self._close()

    def finish(self) -> None:
        self._close()

    def value(self, kind: Kind) -> str | None:
        """The last value of that kind, or None when there is none or it is empty."""
        mark = self._read.get(kind)
        return mark.value if mark and mark.value else None

    @property
    def trailing(self) -> bool:
        """Whether anything but blank lines followed the last mark so far."""
        return bool(self._last) and self._last[-1].trail

    def ends_with(self, *kinds: Kind) -> bool:
        """Strict: the text's last lines are exactly these marks, with nothing but blank lines between and after."""
        tail = self._last[-len(kinds) :]
        return tuple(mark.kind for mark in tail) == kinds and not any(mark.trail for mark in tail)

    def _text(self, mark: Mark, text: str) -> None:
        if mark.open and not mark.element:
            line, newline, rest = text.partition("\n")
            mark.parts.append(line)
            # Some write the value on the line below its label; the contract does not.
            if newline and (self._mode == "strict" or mark.value):
                self._close()
            elif newline:
                return self._text(mark, rest)
            text = rest
        elif mark.open:
            mark.parts.append(text)
            text = ""
        mark.trail = mark.trail or bool(text.strip())
        return None

    def _close(self) -> None:
        if self._last and self._last[-1].open:
            mark = self._last[-1]
            mark.open = False
            if mark.value or self._mode == "strict" or mark.kind not in self._read:
                self._read[mark.kind] = mark


def tidy(answer: str | None, mode: Mode) -> str | None:
    """An answer without the dress: lenient drops emphasis, a box around all of it and a full stop. None if empty."""
    if answer is None or not answer.strip():
        return None
    if mode == "strict":
        return answer.strip()
    bare = answer.strip().strip("*_`").strip()
    if (boxed := last_boxed(bare)) is not None and _BOXED.match(bare.strip("$ ")):
        bare = boxed
    bare = bare.rstrip("*_` ")
    if bare.endswith(".") and not bare.endswith(".."):
        bare = bare[:-1].rstrip("*_` ")
    return bare or None


def last_boxed(text: str) -> str | None:
    """What the last \\boxed{...} with balanced braces holds."""
    for match in reversed(list(_BOXED.finditer(text))[-8:]):
        depth = 0
        for i in range(match.end(), len(text)):
            if text[i] in "{}" and (i == 0 or text[i - 1] != "\\"):
                depth += 1 if text[i] == "{" else -1
                if depth == 0:
                    return text[match.end() + 1 : i].strip()
    return None
