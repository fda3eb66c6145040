"""Completion text -> answer, confidence, claims, or why not. One reader serves whole texts and streams.

Which words and tags count is in `grammar`, how pieces become tokens in `lexer`, what a written number means in
`numbers`; `response` and `claims` turn tokens into what a person sees and what was stated.
"""

import re

from demur.core.answers import Aggregation, Completion, Contract, Mode
from demur.core.reading.claims import ClaimsReader
from demur.core.reading.events import ClaimRead, Delta, Event, Reset, fold
from demur.core.reading.lexer import Lexer
from demur.core.reading.numbers import read_claim_value, read_probability
from demur.core.reading.response import ResponseReader

__all__ = [
    "ClaimRead",
    "Delta",
    "Event",
    "Reader",
    "Reset",
    "detect_contract",
    "fold",
    "read",
    "read_claim_value",
    "read_probability",
]

_CLAIM_TAG = re.compile(r"<confidence\s{1,8}(?:value|text)\s{0,4}=", re.IGNORECASE)
_IDK = re.compile(r"^[ \t*]*answer[ \t*]*:[ \t*]*<idk>", re.IGNORECASE | re.MULTILINE)


class Reader:
    """Reads one model output as it arrives: `feed` pieces, then `close` once.

    For every split of a text into pieces the events fold to the same text and claims, and `close` gives the same
    completion. No input raises. Time and memory are linear in the length of the text.
    """

    def __init__(self, contract: Contract, mode: Mode = "lenient", *, aggregation: Aggregation = "min") -> None:
        self._lexer = Lexer(contract, mode)
        self._reader = ClaimsReader(mode, aggregation) if contract == "claims" else ResponseReader(contract, mode)

    @property
    def running_confidence(self) -> float | None:
        """Claims: the aggregate over the claims closed so far; None while there is none to aggregate."""
        return self._reader.running_confidence

    def feed(self, text: str) -> list[Event]:
        """The events that are certain now."""
        return [event for token in self._lexer.feed(text) for event in self._reader.take(token)]

    def close(self) -> tuple[list[Event], Completion]:
        """The last events, and all that was read."""
        events = [event for token in self._lexer.close() for event in self._reader.take(token)]
        last, completion = self._reader.finish()
        return events + last, completion


def read(text: str, contract: Contract, mode: Mode = "lenient", *, aggregation: Aggregation = "min") -> Completion:
    """Read a whole output at once."""
    reader = Reader(contract, mode, aggregation=aggregation)
    reader.feed(text)
    return reader.close()[1]


def detect_contract(text: str) -> Contract:
    """The contract an output was most likely written under, judged by what is in it."""
    if _CLAIM_TAG.search(text):
        return "claims"
    return "explicit_risk" if _IDK.search(text) else "response"
