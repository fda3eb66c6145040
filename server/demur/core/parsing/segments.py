"""Which part of an output is final text: private thought, channels and other speakers' turns are told apart first.

Chat templates mark them in many ways: `<think>` and its kin, harmony's `<|channel|>analysis<|message|>`, a thought
that the prompt opened and only `</think>` ends, special tokens that an engine left in.
"""

from collections.abc import Iterable, Iterator

from demur.core.parsing.kinds import Kind
from demur.core.parsing.lexer import Token
from demur.core.parsing.templates import (
    ASIDES,
    CHANNEL,
    OTHERS,
    ROLES,
    SPEAKERS,
    THOUGHT_BEGINS,
    THOUGHT_ENDS,
    TURN_ENDS,
    thought_end,
)

_SPEAKERS = ("assistant", "model")
_FINAL = ("final",)
_GLUED_FINAL, _GLUED_THOUGHT = "assistantfinal", ("assistantanalysis", "assistantcommentary", "analysis", "commentary")

_MARKERS = frozenset({Kind.THINK_OPEN, Kind.THINK_CLOSE, Kind.SPECIAL})
_ACTS = _MARKERS | {Kind.THOUGHT_SAID, Kind.RESPONSE_SAID}

VOID = Token(Kind.VOID, "")
"""A control token: all that was passed on so far was private thought, and is void."""
BREAK = Token(Kind.BREAK, "")
"""A control token: a new stretch of final text begins."""


class Segments:
    """Tells final text from private thought: tokens in, those of the final text out, with VOID and BREAK between."""

    def __init__(self) -> None:
        self.thought: list[str] = []
        """What was kept back, as written."""
        self._passed: list[str] = []  # of the final text so far, in case it turns out to be thought
        self._blank = 0  # how many of these are known to be but space
        self._region = Kind.TEXT  # TEXT: final, THINK_OPEN: thought, END: nobody reads it
        self._header: list[str] | None = None  # behind <|channel|> or <|im_start|>: who speaks, and where
        self._to_line_end = False
        self._said_thought = False  # "Here is my thought process:" stood there
        self._over = False  # somebody else spoke after the final text: what follows is another turn
        self._tag_as_answer: list[Token] | None = None  # a tag straight behind an answer's label, and what follows
        self._opened = ""  # what began the thought, where that was a tag or a token for it
        self._labelled = False  # an answer's label stood there, and nothing behind it yet

    @property
    def thought_end(self) -> str:
        """What would end the thought that is open; empty where none is."""
        return thought_end(self._opened) if self._region is Kind.THINK_OPEN else ""

    def take(self, token: Token) -> Iterable[Token]:
        """Take the next token; the tokens of the final text that are certain with it."""
        if token.kind in _ACTS or self._region is not Kind.TEXT or self._header is not None or self._tag_as_answer:
            return self._take_marker(token)
        self._passed.append(token.raw)  # as nearly always
        if self._labelled or token.kind is Kind.ANSWER:
            self._labelled = token.kind is Kind.ANSWER or token.raw.isspace()
        return (token,)

    def _take_marker(self, token: Token) -> Iterator[Token]:
        if token.kind in _MARKERS and self._region is Kind.TEXT and self._labelled:
            self._tag_as_answer = []
        if self._tag_as_answer is not None:
            self._tag_as_answer.append(token)
        self._labelled = False
        yield from self._take(token)

    def finish(self) -> Iterator[Token]:
        """The last tokens of the final text, when the output has ended: a tag behind an answer's label, with a
        confidence behind it and nothing else, was the answer."""
        tag = self._tag_as_answer
        if not tag or self._region is Kind.TEXT or not _is_answer(tag):
            return
        self._region, self.thought = Kind.TEXT, []
        yield Token(Kind.TEXT, tag[0].raw)
        yield from tag[1:]

    def _take(self, token: Token) -> Iterator[Token]:
        match token.kind:
            case Kind.SPECIAL:
                yield from self._special(token.value or "")
            case Kind.THINK_OPEN:
                self._think(token.raw)
            case Kind.THINK_CLOSE if token.value in ASIDES and self._region is not Kind.THINK_OPEN:
                pass  # nobody opened it
            case Kind.THINK_CLOSE:
                yield from self._answer(opened=self._region is Kind.THINK_OPEN)
            case Kind.RESPONSE_SAID if self._said_thought and self._region is Kind.TEXT:
                yield from self._answer(opened=False)
            case _ if self._header is not None:
                yield from self._in_header(token)
            case _ if self._region is Kind.TEXT:
                self._said_thought = self._said_thought or token.kind is Kind.THOUGHT_SAID
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
        elif name in OTHERS:
            self._other_speaks()
        elif name in SPEAKERS:
            yield from self._speak()
        elif name in THOUGHT_BEGINS:
            self._think(f"<|{name}|>")
        elif name in THOUGHT_ENDS or name == _GLUED_FINAL:
            yield from self._answer(opened=self._region is Kind.THINK_OPEN)
        elif name in _GLUED_THOUGHT:
            if self._region is Kind.TEXT and self._has_passed():
                yield from self._answer(opened=False)
            self._think()
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
            yield from self._speak()
        elif said.startswith(("analysis", "commentary", "thought")):
            self._region, self._opened = Kind.THINK_OPEN, ""
        else:
            self._other_speaks()
        if rest:
            yield from self._take(Token(Kind.TEXT, rest))

    def _speak(self) -> Iterator[Token]:
        if self._region is not Kind.TEXT or self._passed:
            yield from self._answer(opened=True)

    def _other_speaks(self) -> None:
        self._over = self._over or self._has_passed()
        self._region = Kind.END

    def _has_passed(self) -> bool:
        """Whether any of the final text so far is more than space."""
        while self._blank < len(self._passed) and not self._passed[self._blank].strip():
            self._blank += 1
        return self._blank < len(self._passed)

    def _think(self, opened: str = "") -> None:
        if self._region is Kind.TEXT:
            self._region, self._opened = Kind.THINK_OPEN, opened

    def _answer(self, *, opened: bool) -> Iterator[Token]:
        """Final text begins."""
        if self._over:
            self._region = Kind.END
            return
        self._region = Kind.TEXT
        if opened:
            yield BREAK
        else:
            self.thought += self._passed
            self._passed, self._blank = [], 0
            yield VOID


def _is_answer(tag: list[Token]) -> bool:
    """A tag alone on the line of an answer's label, and on the next lines a labelled confidence and nothing else."""
    behind = [token for token in tag[1:] if token.raw.strip()]
    value = "".join(token.raw for token in behind[1:]).strip()
    return (
        len(tag) > 1
        and tag[1].raw.startswith(("\n", "\r"))
        and [token.kind for token in behind[:1]] == [Kind.CONFIDENCE]
        and all(token.kind is Kind.TEXT for token in behind[1:])
        and bool(value)
        and "\n" not in value
    )
