"""The parser of the fields contract: a JSON document whose plain values are pairs (`demur.core.fields`)."""

from demur.core.aggregation import aggregate
from demur.core.answers import Aggregation, Completion, FieldValue
from demur.core.fields import DocumentReader, Unreadable, plain
from demur.core.parsing.events import Delta, Event, FieldRead
from demur.core.parsing.lexer import Token
from demur.core.parsing.port import ParserSettings


class FieldsReader:
    """Tells the caller's plain JSON value by value. The completion's answer is all of it, on one line.

    `text` is what was told: the answer, or the beginning of one that cannot be read to its end, with its fields.
    """

    def __init__(self, settings: ParserSettings) -> None:
        self._aggregation: Aggregation = settings.aggregation
        self._reader = DocumentReader()
        self._fields: list[FieldValue] = []
        self._broken = False

    @property
    def running_confidence(self) -> float | None:
        return None

    def take(self, token: Token) -> list[Event]:
        events: list[Event] = []
        if self._broken:
            return events
        try:
            for each in self._reader.feed(token.raw):
                self._fields.append(each)
                events.append(FieldRead(each))
        except Unreadable:
            self._broken = True
        return events

    def finish(self) -> tuple[list[Event], Completion]:
        try:
            if self._broken:
                raise Unreadable("it was none before its end")
            rest = self._reader.close()
        except Unreadable:
            return [], self._unreadable()
        answer = plain(self._fields) + rest
        confidence = aggregate([field.confidence for field in self._fields], self._aggregation)
        completion = Completion(
            "fields", answer, confidence.value, confidence.state, answer, fields=tuple(self._fields)
        )
        return [Delta(rest)] if rest else [], completion

    def _unreadable(self) -> Completion:
        told, fields = plain(self._fields), tuple(self._fields)
        problems = ("answer_missing",)
        return Completion("fields", None, None, "missing", told, fields=fields, problems=problems, violation=True)
