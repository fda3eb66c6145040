"""The one reader of model outputs: text -> answer, confidence and claims, whole or as a stream."""

from dataclasses import replace

from demur.core.answers import Aggregation, Completion, ContractName, ParseMode
from demur.core.contracts import ALL_CONTRACTS, CONTRACTS
from demur.core.parsing.events import Event
from demur.core.parsing.labels import LABELS, Labels
from demur.core.parsing.lexer import Lexer, Token
from demur.core.parsing.port import ParserSettings
from demur.core.parsing.segments import Segments


class Reader:
    """Reads one model output as it arrives: `feed` pieces, then `close` once.

    For every split of a text into pieces the events fold to the same text and claims, and `close` gives the same
    completion. No input raises. Time and memory are linear in the length of the text.
    """

    def __init__(
        self,
        contract: ContractName,
        mode: ParseMode = "lenient",
        *,
        aggregation: Aggregation = "min",
        scale: float | None = None,
        labels: Labels = LABELS,
    ) -> None:
        """`scale` is the top of the scale that the prompt asked for, 100 for 0 to 100; None for a probability.

        `labels` are the words that announce answers and confidences where the mode is lenient. Raises KeyError for a
        contract that is not in `ALL_CONTRACTS`.
        """
        form = ALL_CONTRACTS[contract]
        mode = "strict" if form.takes_schema else mode
        self._contract = form.name
        self._lexer = Lexer(form.has_claims, mode, labels)
        self._segments = Segments() if mode == "lenient" else None
        self._parser = form.parser(ParserSettings(mode, aggregation, scale, labels))

    @property
    def running_confidence(self) -> float | None:
        """Claims: the aggregate in [0, 1] over the claims closed so far; None while there is none to aggregate."""
        return self._parser.running_confidence

    @property
    def thought(self) -> str:
        """What was kept back as private thought so far, as written."""
        return "" if self._segments is None else "".join(self._segments.thought)

    @property
    def thought_end(self) -> str:
        """What would end the private thought that is open; empty where none is."""
        return "" if self._segments is None else self._segments.thought_end

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of the output; the events for text that may now be shown and for claims and fields that
        have closed."""
        return self._take(self._lexer.feed(text))

    def close(self) -> tuple[list[Event], Completion]:
        """End the output: the last events, and all that was read. Call it once."""
        events = self._take(self._lexer.close())
        if self._segments is not None:
            events += [event for token in self._segments.finish() for event in self._parser.take(token)]
        last, completion = self._parser.finish()
        if completion.contract != self._contract:  # a contract that is read as another one is
            completion = replace(completion, contract=self._contract)
        return events + last, completion

    def _take(self, tokens: list[Token]) -> list[Event]:
        segments, take = self._segments, self._parser.take
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
    contract: ContractName,
    mode: ParseMode = "lenient",
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


def detect_contract(text: str) -> ContractName:
    """The contract an output was most likely written under, judged by what is in it; else the default one."""
    return next((c.name for c in CONTRACTS.values() if c.recognizes(text)), next(iter(CONTRACTS)))
