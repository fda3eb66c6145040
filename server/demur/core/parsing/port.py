"""The port for parsers: what turns the tokens of one output into events and, in the end, a completion."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from demur.core.answers import Aggregation, Completion, ParseMode
from demur.core.parsing.events import Event
from demur.core.parsing.labels import LABELS, Labels
from demur.core.parsing.lexer import Token


@dataclass(frozen=True, slots=True)
class ParserSettings:
    """How one output is read; see `demur.core.reader.Reader`."""

    mode: ParseMode = "lenient"
    aggregation: Aggregation = "min"
    scale: float | None = None
    labels: Labels = LABELS


class OutputParser(Protocol):
    """Reads the tokens of one output's final text, in order."""

    @property
    def running_confidence(self) -> float | None:
        """The aggregate over the claims closed so far; None where there is none to aggregate."""
        ...

    def take(self, token: Token) -> list[Event]:
        """Take the next token; the events that are certain with it. Only a later `Reset` makes them void."""
        ...

    def finish(self) -> tuple[list[Event], Completion]:
        """The last events, and all that was read. Called once."""
        ...


Parser = Callable[[ParserSettings], OutputParser]
"""Makes a parser for one output."""
