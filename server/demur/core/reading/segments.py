"""Which part of an output is final text: private thought, channels and other speakers' turns are told apart first.

Chat templates mark them in many ways: `<think>` and its kin, harmony's `<|channel|>analysis<|message|>`, a thought
that the prompt opened and only `</think>` ends, special tokens that an engine left in.
"""

from collections.abc import Iterator

from demur.core.reading.grammar import Kind
from demur.core.reading.lexer import Token
from demur.core.reading.templates import CHANNEL, ROLES, THOUGHT_BEGINS, THOUGHT_ENDS, TURN_ENDS

_SPEAKERS = ("assistant", "model")
_FINAL = ("final",)

VOID = Token(Kind.VOID, "")
"""All that was passed on so far was thought after all."""
BREAK = Token(Kind.BREAK, "")
"""A new stretch of final text begins."""


class Segments:
    """Takes tokens, gives those of the final text, with VOID and BREAK between them."""

    def __init__(self) -> None:
        self.thought: list[str] = []
        """What was kept back, as written."""
        self._passed: list[str] = []  # of the final text so far, in case it turns out to be thought
        self._region = Kind.TEXT  # TEXT: final, THINK_OPEN: thought, END: nobody reads it
        self._header: list[str] | None = None  # behind <|channel|> or <|im_start|>: who speaks, and where
        self._to_line_end = False

    def take(self, token: Token) -> Iterator[Token]:
        match token.kind:
            case Kind.SPECIAL:
                yield from self._special(token.value or "")
            case Kind.THINK_OPEN:
                self._think()
            case Kind.THINK_CLOSE:
                yield from self._answer(opened=self._region is Kind.THINK_OPEN)
            case _ if self._header is not None:
                yield from self._in_header(token)
            case _ if self._region is Kind.TEXT:
                self._passed.append(token.raw)
                yield token
            case _ if self._region is Kind.THINK_OPEN:
                self.thought.append(token.raw)
            case _:
                pass

    def _special(self, name: str) -> Iterator[Token]:
        header, self._header = self._header, None
        if name in TURN_ENDS:
            self._region = Kind.END
        elif name in THOUGHT_BEGINS:
            self._think()
        elif name in THOUGHT_ENDS:
            yield from self._answer(opened=self._region is Kind.THINK_OPEN)
        elif name == CHANNEL or name in ROLES:
            if header is not None:
                yield from self._enter(header, "")
            self._header, self._to_line_end = [], name in ("im_start", "start_of_turn")
        elif header is not None:  # <|message|>, <|end_header_id|>
            yield from self._enter(header, "")

    def _in_header(self, token: Token) -> Iterator[Token]:
        header = self._header if self._header is not None else []
        line, newline, rest = token.raw.partition("\n")
        header.append(line)
        if newline and (self._to_line_end or sum(map(len, header)) > 64):
            self._header = None
            yield from self._enter(header, newline + rest)

    def _enter(self, header: list[str], rest: str) -> Iterator[Token]:
        """Behind the header: the assistant's own words and the final channel are read, the others are not."""
        said = "".join(header).strip().lower()
        if said.startswith(_SPEAKERS) or said.startswith(_FINAL) or not said:
            if self._region is not Kind.TEXT or self._passed:
                yield from self._answer(opened=True)
        else:
            self._region = Kind.THINK_OPEN if said.startswith(("analysis", "commentary", "thought")) else Kind.END
        if rest:
            yield from self.take(Token(Kind.TEXT, rest))

    def _think(self) -> None:
        if self._region is Kind.TEXT:
            self._region = Kind.THINK_OPEN

    def _answer(self, *, opened: bool) -> Iterator[Token]:
        """Final text begins."""
        self._region = Kind.TEXT
        if opened:
            yield BREAK
        else:
            self.thought += self._passed
            self._passed = []
            yield VOID
