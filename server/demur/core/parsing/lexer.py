"""Model output, in whatever pieces it arrives -> tokens.

Two promises hold for every split of a text into pieces: the tokens' `raw` parts joined are the text, and the tokens
other than TEXT are the same. What could still become a label or a tag is held back, never more than a few hundred
characters, so the work is linear in the length. No HTML parser can do this: steps hold `<`, `>`, quotes and braces.
"""

import re
from typing import NamedTuple

from demur.core.answers import ParseMode
from demur.core.parsing.grammar import LONGEST_LABEL, LONGEST_TAG, grammar
from demur.core.parsing.kinds import BEGINS_LINE, OPEN_ENDED, QUOTABLE, Kind
from demur.core.parsing.labels import LABELS, Labels
from demur.core.parsing.tags import MAY_BE_STRUCK
from demur.core.parsing.templates import (
    GLUED,
    GLUED_AT_START,
    GLUED_BEGINS,
    GLUED_BEGINS_AT_START,
    GLUED_LONGEST,
)

_KINDS = dict(Kind.__members__)


class Token(NamedTuple):
    """One token of a model's output: its kind, and `raw`, the text as written.

    `value` is a claim's stated number; `quoted` says that its explanation follows, up to the next token but TEXT.
    """

    kind: Kind
    raw: str
    value: str | None = None
    quoted: bool = False


class Lexer:
    """Feed it text, take tokens. Contracts with claims have their own structures; the mode says how loosely written."""

    def __init__(self, has_claims: bool, mode: ParseMode = "lenient", labels: Labels = LABELS) -> None:
        self._grammar = grammar(has_claims, mode, labels)
        self._before = "\n"  # the last character given out; a label needs to know whether a line starts after it
        self._carry = ""
        self._begins_line = False  # a line begins with what comes next, though no newline stands before it
        self._quote = ""  # what closes the explanation we are inside, if we are
        self._fresh = True  # nothing was given out yet
        self._ahead: list[re.Match[str] | None] = []

    def feed(self, text: str) -> list[Token]:
        """Take the next piece of the output; the tokens that no later text can change."""
        return self._scan(text, final=False)

    def close(self) -> list[Token]:
        """The tokens of what was held back: the output has ended."""
        return self._scan("", final=True)

    def _scan(self, text: str, final: bool) -> list[Token]:
        buffer = self._before + self._carry + text
        if not (self._begins_line or self._fresh or self._grammar.special[self._quote].search(buffer)):
            return self._plain(buffer, final)
        tokens: list[Token] = []
        position = at = 1
        limit = len(buffer)
        glued = self._glued(buffer, final)
        body, self._ahead = self._body(buffer), []
        while match := (
            self._next(buffer, at, position, body, glued)
            if glued or self._begins_line or self._quote
            else body.search(buffer, at - (buffer[at - 1] == "\n"))
        ):
            kind = _KINDS[match.lastgroup or "SPECIAL"]
            open_ended = match.end() == len(buffer) and not final
            if kind is Kind.STRUCK:
                at = match.end()
                continue
            if kind is Kind.SPECIAL and not final and self._may_be_struck(buffer, match.start()):
                limit = match.start()
                break
            if kind in QUOTABLE and buffer[match.start() - 1] == "`":
                if open_ended:
                    limit = match.start()
                    break
                if buffer[match.end() : match.end() + 1] == "`":  # somebody writes about it
                    at = match.end()
                    continue
            if open_ended and kind in OPEN_ENDED:
                break
            start = match.start() + (buffer[match.start()] == "\n")  # the newline belongs to the text before
            if start > position:
                tokens.append(Token(Kind.TEXT, buffer[position:start]))
            tokens.append(self._token(kind, match, buffer[start : match.end()]))
            position = at = match.end()
            self._begins_line = kind in BEGINS_LINE
        cut = len(buffer) if final else min(limit, self._safe_cut(buffer, position, body is self._grammar.body))
        if cut > position:
            tokens.append(Token(Kind.TEXT, buffer[position:cut]))
            self._begins_line = False
        self._fresh = self._fresh and not tokens
        self._before, self._carry = buffer[cut - 1], buffer[cut:]
        return tokens

    def _plain(self, buffer: str, final: bool) -> list[Token]:
        """Text in which no structure begins, as most pieces of a stream are."""
        cut = len(buffer)
        if not final and (buffer[-1] == "a" or "as" in buffer):
            cut = self._before_glued(buffer, 1)
        self._before, self._carry = buffer[cut - 1], buffer[cut:]
        return [Token(Kind.TEXT, buffer[1:cut])] if cut > 1 else []

    def _next(
        self, buffer: str, at: int, position: int, body: re.Pattern[str], glued: list[re.Match[str]]
    ) -> re.Match[str] | None:
        """The next structure from `at` on; what stands before `position` was given out."""
        if self._quote:
            body = self._grammar.explanation[self._quote]
        elif self._begins_line and at == position and (label := self._grammar.line.match(buffer, position)):
            return label
        while glued and glued[-1].start() < at:
            glued.pop()
        if not glued or self._quote:
            return body.search(buffer, at - (buffer[at - 1] == "\n"))
        if not self._ahead or (self._ahead[0] is not None and self._ahead[0].start() < at):  # looked for once only
            self._ahead = [body.search(buffer, at - (buffer[at - 1] == "\n"))]
        found = self._ahead[0]
        return glued[-1] if not found or glued[-1].start() <= found.start() else found

    def _glued(self, buffer: str, final: bool) -> list[re.Match[str]]:
        """Headers whose special tokens a decoder dropped, the last first; at the end, what follows still decides."""
        if not self._grammar.lenient:
            return []
        found = list(GLUED.finditer(buffer, 1))[::-1] if "assistant" in buffer else []
        found = found if final or not found or found[0].end() < len(buffer) else found[1:]
        first = GLUED_AT_START.match(buffer, 1) if self._fresh else None
        return [*found, first] if first else found

    def _body(self, buffer: str) -> re.Pattern[str]:
        for character in self._grammar.tag_opens:
            if character in buffer:
                return self._grammar.body
        return self._grammar.body_without_tags

    def _token(self, kind: Kind, match: re.Match[str], raw: str) -> Token:
        if kind is Kind.CLAIM_OPEN:
            self._quote = match["quote"] or ""
            return Token(kind, raw, _unquote(match["value"]), quoted=bool(self._quote))
        if kind in (Kind.EXPLANATION_END, Kind.CLAIM_CLOSE, Kind.SOLUTION):
            self._quote = ""
        if kind is Kind.SPECIAL:
            return Token(kind, raw, raw.strip("<>|｜[]").lower().replace("▁", "_"))
        if kind in (Kind.THINK_OPEN, Kind.THINK_CLOSE):
            return Token(kind, raw, raw.strip("<>[]|/◁▷ \t\r\n").lower())
        late = match["late"] if kind is Kind.EXPLANATION_END and self._grammar.lenient else None
        return Token(kind, raw, _unquote(late))

    def _safe_cut(self, buffer: str, position: int, has_tags: bool) -> int:
        """The first place from which on the buffer could still turn into a label or a tag."""
        cut = self._before_glued(buffer, position)
        starts, partial = self._grammar.starts[self._quote], self._grammar.partial
        near = max(position, cut - LONGEST_TAG)
        start = starts.search(buffer, near, cut) if has_tags or self._quote else None
        while start:
            if partial.match(buffer, start.start()):
                cut = start.start()
                break
            start = starts.search(buffer, start.end(), cut)
        line = buffer.rfind("\n", 0, cut) + 1
        if self._grammar.lenient and line > 1 and not buffer[line:cut].strip("=- \t\r"):
            above = buffer.rfind("\n", 0, line - 1) + 1  # the line above may be a heading that is underlined
            above = max(above, position) if self._begins_line else above
            if position <= above and self._may_become_label(buffer, above, cut):
                return above
        line = max(line, position) if self._begins_line else line
        return line if position <= line and self._may_become_label(buffer, line, cut) else cut

    def _may_be_struck(self, buffer: str, start: int) -> bool:
        return buffer[start - 1] not in "\n>" and MAY_BE_STRUCK.fullmatch(buffer, start) is not None

    def _may_become_label(self, buffer: str, line: int, cut: int) -> bool:
        return cut - line <= LONGEST_LABEL and self._grammar.may_become_label(buffer[line:cut])

    def _before_glued(self, buffer: str, position: int) -> int:
        """Where what may still become a header without its special tokens begins."""
        end = len(buffer)
        if not self._grammar.lenient or (buffer[-1] != "a" and "as" not in buffer and not self._fresh):
            return end
        if self._fresh and position == 1 and buffer[1:] in GLUED_BEGINS_AT_START:
            return 1
        at = buffer.find("as", max(position, end - GLUED_LONGEST))
        while at >= 0:
            if buffer[at:] in GLUED_BEGINS:
                return at
            at = buffer.find("as", at + 1)
        return end - 1 if end > position and buffer[-1] == "a" else end


def _unquote(value: str | None) -> str | None:
    return None if value is None else value.strip().strip("\"'")
