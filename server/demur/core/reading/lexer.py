"""Model output, in whatever pieces it arrives -> tokens.

Two promises hold for every split of a text into pieces: the tokens' `raw` parts joined are the text, and the tokens
other than TEXT are the same. What could still become a label or a tag is held back, never more than a few hundred
characters, so the work is linear in the length. No HTML parser can do this: steps hold `<`, `>`, quotes and braces.
"""

import re
from typing import NamedTuple

from demur.core.answers import Contract, Mode
from demur.core.reading.grammar import BEGINS_LINE, LONGEST_LABEL, LONGEST_TAG, OPEN_ENDED, Kind, grammar
from demur.core.reading.labels import LABELS, Labels


class Token(NamedTuple):
    """`value` is a claim's stated number; `quoted` says that its explanation follows, up to the next token but TEXT."""

    kind: Kind
    raw: str
    value: str | None = None
    quoted: bool = False


class Lexer:
    """Feed it text, take tokens. The contract says which structures exist, the mode how loosely they are written."""

    def __init__(self, contract: Contract, mode: Mode = "lenient", labels: Labels = LABELS) -> None:
        self._grammar = grammar(contract, mode, labels)
        self._before = "\n"  # the last character given out; a label needs to know whether a line starts after it
        self._carry = ""
        self._begins_line = False  # a line begins with what comes next, though no newline stands before it
        self._quote = ""  # what closes the explanation we are inside, if we are

    def feed(self, text: str) -> list[Token]:
        """The tokens that are certain now."""
        return self._scan(text, final=False)

    def close(self) -> list[Token]:
        """The rest, when nothing can follow any more."""
        return self._scan("", final=True)

    def _scan(self, text: str, final: bool) -> list[Token]:
        buffer = self._before + self._carry + text
        tokens: list[Token] = []
        position = 1
        while match := self._next(buffer, position):
            kind = Kind[match.lastgroup or ""]
            if not final and kind in OPEN_ENDED and match.end() == len(buffer):
                break
            start = match.start() + (buffer[match.start()] == "\n")  # the newline belongs to the text before
            if start > position:
                tokens.append(Token(Kind.TEXT, buffer[position:start]))
            tokens.append(self._token(kind, match, buffer[start : match.end()]))
            position = match.end()
            self._begins_line = kind in BEGINS_LINE
        cut = len(buffer) if final else self._safe_cut(buffer, position)
        if cut > position:
            tokens.append(Token(Kind.TEXT, buffer[position:cut]))
            self._begins_line = False
        self._before, self._carry = buffer[cut - 1], buffer[cut:]
        return tokens

    def _next(self, buffer: str, position: int) -> re.Match[str] | None:
        if self._begins_line and not self._quote and (label := self._grammar.line.match(buffer, position)):
            return label
        return self._pattern().search(buffer, position - (buffer[position - 1] == "\n"))

    def _pattern(self) -> re.Pattern[str]:
        return self._grammar.explanation[self._quote] if self._quote else self._grammar.body

    def _token(self, kind: Kind, match: re.Match[str], raw: str) -> Token:
        if kind is Kind.CLAIM_OPEN:
            self._quote = match["quote"] or ""
            return Token(kind, raw, _unquote(match["value"]), quoted=bool(self._quote))
        if kind in (Kind.EXPLANATION_END, Kind.CLAIM_CLOSE, Kind.SOLUTION):
            self._quote = ""
        if kind is Kind.SPECIAL:
            return Token(kind, raw, raw.strip("<>|｜").lower().replace("▁", "_"))
        late = match["late"] if kind is Kind.EXPLANATION_END and self._grammar.lenient else None
        return Token(kind, raw, _unquote(late))

    def _safe_cut(self, buffer: str, position: int) -> int:
        """The first place from which on the buffer could still turn into a label or a tag."""
        cut = len(buffer)
        starts = self._grammar.tag_opens + self._quote
        for at in range(max(position, cut - LONGEST_TAG), cut):
            if buffer[at] in starts and self._grammar.partial.match(buffer, at):
                cut = at
                break
        line = buffer.rfind("\n", 0, cut) + 1
        line = max(line, position) if self._begins_line else line
        if position <= line and cut - line <= LONGEST_LABEL and self._grammar.may_become_label(buffer[line:cut]):
            return line
        return cut


def _unquote(value: str | None) -> str | None:
    return None if value is None else value.strip().strip("\"'")
