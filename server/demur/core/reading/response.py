"""The response and explicit-risk contracts: free reasoning, then labelled last lines."""

import re

from demur.core.answers import Completion, Contract, Mode
from demur.core.reading.events import Event, Reset, Visible
from demur.core.reading.grammar import Kind
from demur.core.reading.lexer import Token
from demur.core.reading.marks import Marks, last_boxed, tidy
from demur.core.reading.numbers import read_probability

_ANSWERS = {Kind.ANSWER, Kind.ANSWER_OPEN}
_CONFIDENCES = {Kind.CONFIDENCE, Kind.CONFIDENCE_OPEN}
_IDK = re.compile(r"<?\s*idk\s*>?|i (?:do not|don't|don’t) know", re.IGNORECASE)
_IN_PASSING = re.compile(
    r"\b(\d{1,3}(?:\.\d{1,6})?\s?(?:%|percent))\s(?:sure|confident|certain|confidence|probability)\b"
    r"|\b(?:confidence|probability)\b(?:\s(?:level|score))?\s?(?:is|of|=|:)\s?[*_~≈]{0,3}(\d{0,3}\.?\d{1,6}\s?%?)",
    re.IGNORECASE | re.ASCII,
)
_BESIDE = re.compile(
    r"[\s;,.…(]{0,8}\b(?:confidence|probability)\s{0,3}[:=]\s{0,3}([^\n]{1,60})$", re.IGNORECASE | re.MULTILINE
)
_BARE = re.compile(r"(?:0?\.\d{1,6}|[01]\.0{1,6}|\d{1,3}\s?%)", re.ASCII)


class ResponseReader:
    """Shows the text before the last answer; what follows an answer is held until it is known not to be the last."""

    def __init__(self, contract: Contract, mode: Mode) -> None:
        self._contract: Contract = contract
        self._mode: Mode = mode
        self._visible = Visible()
        self._marks = Marks(mode)
        self._raw: list[str] = []
        self._held: list[str] = []  # from a label on: shown once a later answer proves it part of the text
        self._worth = False  # whether what is held is more than a lone confidence line
        self._thinking = False

    @property
    def running_confidence(self) -> float | None:
        return None

    def take(self, token: Token) -> list[Event]:
        self._raw.append(token.raw)
        self._marks.take(token)
        if token.kind is Kind.THINK_OPEN and not self._visible.length:
            self._thinking = True
            return []
        if token.kind is Kind.THINK_CLOSE:
            return self._forget()
        if self._thinking:
            return []
        if token.kind in _ANSWERS:
            events = self._release() if self._worth else []
            self._held, self._worth = [token.raw], True
            return events
        if token.kind in _CONFIDENCES or self._held:
            self._held.append(token.raw)
            self._worth = self._worth or self._marks.trailing
            return []
        return self._visible.write(token.raw)

    def finish(self) -> tuple[list[Event], Completion]:
        self._marks.finish()
        answered = self._marks.value(Kind.ANSWER) is not None
        events = self._release() if self._worth and not answered else []
        return events, self._completion()

    def _release(self) -> list[Event]:
        events = self._visible.write("".join(self._held))
        self._held = []
        return events

    def _forget(self) -> list[Event]:
        """All so far was private reasoning; answers in it still count when no later one comes."""
        told = self._visible.length > 0
        self._visible, self._held, self._worth, self._thinking = Visible(), [], False, False
        return [Reset("reasoning_ended")] if told else []

    def _completion(self) -> Completion:
        answer, stated = self._marks.value(Kind.ANSWER), self._marks.value(Kind.CONFIDENCE)
        if self._mode == "lenient":
            answer, stated = self._unlabelled(answer, stated)
        answer = tidy(answer, self._mode)
        if self._contract == "explicit_risk":
            return self._explicit_risk(answer)
        reading = read_probability(stated or "", self._mode)
        problems = list(reading.problems)
        if answer is None:
            problems.append("answer_missing")
        elif self._mode == "strict" and not self._marks.ends_with(Kind.ANSWER, Kind.CONFIDENCE):
            problems.append("not_the_last_lines")
        return Completion(
            contract="response",
            answer=answer,
            confidence=reading.value,
            state=reading.state,
            text=self._visible.text,
            problems=tuple(problems),
            violation=self._mode == "strict" and bool(problems),
        )

    def _explicit_risk(self, answer: str | None) -> Completion:
        idk = answer is not None and (
            answer == "<IDK>" if self._mode == "strict" else _IDK.fullmatch(answer) is not None
        )
        problems: tuple[str, ...] = ()
        if answer is None:
            problems = ("answer_missing",)
        elif self._mode == "strict" and not self._marks.ends_with(Kind.ANSWER):
            problems = ("not_the_last_lines",)
        return Completion(
            contract="explicit_risk",
            answer=None if idk else answer,
            confidence=None,
            state="missing",
            text=self._visible.text,
            idk=idk,
            problems=problems,
            violation=self._mode == "strict" and bool(problems),
        )

    def _unlabelled(self, answer: str | None, stated: str | None) -> tuple[str | None, str | None]:
        """Lenient: what was said without its label, in the forms that other people's models were seen to use."""
        raw = "".join(self._raw)
        if answer is not None and (beside := _BESIDE.search(answer)):
            answer, stated = answer[: beside.start()], stated or beside[1]
        if answer is None and (boxed := last_boxed(raw)) is not None:
            answer = boxed
        lines = [line for line in self._visible.text.split("\n") if line.strip()] if answer is None else []
        if stated is None and len(lines) == 2 and _BARE.fullmatch(lines[1].strip()):
            stated = lines.pop()
        if stated is None:
            said = list(_IN_PASSING.finditer(raw))
            stated = said[-1][1] or said[-1][2] if said else None
        if stated is not None and len(lines) == 1:  # a short answer all by itself, and a confidence
            answer = _BESIDE.sub("", lines[0])
        return answer, stated
