"""The parser of the fields contract: a JSON document whose plain values are pairs (`demur.core.fields`)."""

import json

from demur.core.aggregation import aggregate
from demur.core.answers import Aggregation, Completion
from demur.core.fields import Unreadable, read_document
from demur.core.parsing.events import Event
from demur.core.parsing.lexer import Token
from demur.core.parsing.port import ParserSettings


class FieldsReader:
    """Keeps the whole output and reads it at its end. The completion's answer is the caller's JSON on one line."""

    def __init__(self, settings: ParserSettings) -> None:
        self._aggregation: Aggregation = settings.aggregation
        self._written: list[str] = []

    @property
    def running_confidence(self) -> float | None:
        return None

    def take(self, token: Token) -> list[Event]:
        self._written.append(token.raw)
        return []

    def finish(self) -> tuple[list[Event], Completion]:
        try:
            document, fields = read_document("".join(self._written))
        except Unreadable:
            return [], Completion("fields", None, None, "missing", "", problems=("answer_missing",), violation=True)
        confidence = aggregate([field.confidence for field in fields], self._aggregation)
        answer = json.dumps(document, ensure_ascii=False)
        return [], Completion("fields", answer, confidence.value, confidence.state, "", fields=fields)
