"""Completion text -> answer, confidence, claims, or why not. One reader serves whole texts and streams.

`grammar` knows labels (`labels`, by language; `before_labels`) and `tags` (`templates` has the special tokens), `lexer`
cuts the text into tokens, `segments` tells final text from thought. `response` and `claims` turn tokens into what a
person sees and what was stated: `marks` pairs labelled values, `turns` ends where a model goes on after its answer;
`objects`, `sentences`, `unlabelled` and `passing` find what has no label, `values` and `dress` take off what is no part
of an answer. `numbers` reads a confidence: `spelling` first, then `scales` and `quantities`.
"""

import re
from dataclasses import replace

from demur.core.answers import Aggregation, Completion, Contract, Mode
from demur.core.reading.claims import ClaimsReader
from demur.core.reading.events import ClaimRead, Delta, Event, Reset, fold
from demur.core.reading.labels import LABELS, Labels
from demur.core.reading.lexer import Lexer, Token
from demur.core.reading.numbers import read_claim_value, read_probability
from demur.core.reading.response import ResponseReader
from demur.core.reading.segments import Segments

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

    def __init__(
        self,
        contract: Contract,
        mode: Mode = "lenient",
        *,
        aggregation: Aggregation = "min",
        scale: float | None = None,
        labels: Labels = LABELS,
    ) -> None:
        """`scale` is the top of the scale that the prompt asked for, 100 for 0 to 100; None for a probability.

        `labels` are the words that announce answers and confidences where the mode is lenient.
        """
        self._lexer = Lexer(contract, mode, labels)
        self._segments = Segments() if mode == "lenient" else None
        self._reader = (
            ClaimsReader(mode, aggregation, labels)
            if contract == "claims"
            else ResponseReader(contract, mode, scale, labels)
        )

    @property
    def running_confidence(self) -> float | None:
        """Claims: the aggregate over the claims closed so far; None while there is none to aggregate."""
        return self._reader.running_confidence

    @property
    def thought(self) -> str:
        """What was kept back as private thought so far, as written."""
        return "" if self._segments is None else "".join(self._segments.thought)

    def feed(self, text: str) -> list[Event]:
        """The events that are certain now."""
        return self._take(self._lexer.feed(text))

    def close(self) -> tuple[list[Event], Completion]:
        """The last events, and all that was read."""
        events = self._take(self._lexer.close())
        if self._segments is not None:
            events += [event for token in self._segments.finish() for event in self._reader.take(token)]
        last, completion = self._reader.finish()
        return events + last, completion

    def _take(self, tokens: list[Token]) -> list[Event]:
        segments, take = self._segments, self._reader.take
        events: list[Event] = []
        for token in tokens:
            if segments is None:
                events += take(token)
            else:
                for final in segments.take(token):
                    events += take(final)
        return events


def read(
    text: str,
    contract: Contract,
    mode: Mode = "lenient",
    *,
    aggregation: Aggregation = "min",
    scale: float | None = None,
    labels: Labels = LABELS,
    thought_counts: bool = False,
) -> Completion:
    """Read a whole output at once; see `Reader`.

    With `thought_counts` an output that is nothing but private thought is read all the same, as a last resort, and
    marked with the problem `read_from_thought`. Serving never does that.
    """
    reader = Reader(contract, mode, aggregation=aggregation, scale=scale, labels=labels)
    reader.feed(text)
    completion = reader.close()[1]
    nothing = completion.answer is None and not (completion.text or completion.claims)
    if not (thought_counts and nothing and reader.thought.strip()):
        return completion
    thought = read(reader.thought, contract, mode, aggregation=aggregation, scale=scale, labels=labels)
    return replace(thought, problems=(*thought.problems, "read_from_thought"))


def detect_contract(text: str) -> Contract:
    """The contract an output was most likely written under, judged by what is in it."""
    if _CLAIM_TAG.search(text):
        return "claims"
    return "explicit_risk" if _IDK.search(text) else "response"
