"""Where in a model's output the answer stands that was read from it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from demur.core.answers import Aggregation, Completion
from demur.core.contracts import Contract
from demur.core.parsing.dress import tidy
from demur.core.parsing.grammar import Kind
from demur.core.parsing.labels import LABELS, Labels
from demur.core.parsing.lexer import Lexer
from demur.core.reader import read

Span = tuple[int, int]
"""[start, end) in Unicode code points."""

_ANSWERS = frozenset({Kind.ANSWER, Kind.ANSWER_OPEN})
_CONFIDENCES = frozenset({Kind.CONFIDENCE, Kind.CONFIDENCE_OPEN})
_WITHIN = frozenset({Kind.TEXT, Kind.FENCE, Kind.THOUGHT_SAID})
"""What a value behind a label may hold."""
_LINE = re.compile(r"[^\n]*\S[^\n]*")


@dataclass(frozen=True, slots=True)
class OutputForm:
    """How the outputs of one request are read; see `demur.core.reader.Reader`."""

    contract: Contract
    aggregation: Aggregation = "min"
    labels: Labels = LABELS

    def read(self, text: str) -> Completion:
        """What a whole output says."""
        return read(text, self.contract.name, aggregation=self.aggregation, labels=self.labels)

    def answer_span(self, text: str, answer: str) -> Span | None:
        """Where `answer`, which was read from `text`, stands in it; None where that cannot be told.

        It is the last place behind a label for answers that says nothing else, then the last one behind such a label
        that holds it, then the last one anywhere but behind a label for confidences. Thought comes last of all.
        """
        stretches = list(_stretches(text, self))
        final = max((start for kind, start, _ in stretches if kind is Kind.THINK_CLOSE), default=0)
        after = [stretch for stretch in stretches if stretch[1] >= final]
        return _found(text, answer, after) or _found(text, answer, stretches)


Stretch = tuple[Kind, int, int]
"""The kind of a label and the place of the text behind it."""


def _stretches(text: str, form: OutputForm) -> Iterator[Stretch]:
    lexer = Lexer(form.contract.has_claims, "lenient", form.labels)
    kind, start, at = Kind.TEXT, 0, 0
    for token in [*lexer.feed(text), *lexer.close()]:
        before, at = at, at + len(token.raw)
        if token.kind not in _WITHIN:
            yield kind, start, before
            kind, start = token.kind, at
    yield kind, start, len(text)


def _found(text: str, answer: str, stretches: list[Stretch]) -> Span | None:
    labelled = [text_at for text_at in reversed(stretches) if text_at[0] in _ANSWERS]
    for _, start, end in labelled:
        if (line := _says(text, start, end, answer)) is not None:
            return _literally(text, answer, *line) or line
    others = [each for each in reversed(stretches) if each[0] not in _ANSWERS | _CONFIDENCES]
    for _, start, end in [*labelled, *others]:
        if (span := _literally(text, answer, start, end)) is not None:
            return span
    return None


def _says(text: str, start: int, end: int, answer: str) -> Span | None:
    """The whole text there, or its first line that says anything, if that is the answer in other dress."""
    whole = _stripped(text, start, end)
    first = _LINE.search(text, start, end)
    line = None if first is None else _stripped(text, first.start(), first.end())
    return next((span for span in (line, whole) if span and tidy(text[slice(*span)], "lenient") == answer), None)


def _literally(text: str, answer: str, start: int, end: int) -> Span | None:
    """The last place where the answer stands as it is, not as a part of a longer word or number."""
    at = text.rfind(answer, start, end)
    while at >= 0:
        span = at, at + len(answer)
        if not (_joins(text[max(at - 1, 0) : at], answer[0]) or _joins(answer[-1], text[span[1] : span[1] + 1])):
            return span
        at = text.rfind(answer, start, at + len(answer) - 1)
    return None


def _joins(before: str, after: str) -> bool:
    return before.isalnum() and after.isalnum()


def _stripped(text: str, start: int, end: int) -> Span:
    inner = text[start:end]
    left = start + len(inner) - len(inner.lstrip())
    return left, max(left, start + len(inner.rstrip()))
