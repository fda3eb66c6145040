"""A claim while it is read: its stated value, its explanation, its step."""

from demur.core.answers import Claim, ParseMode
from demur.core.parsing.events import Delta, Event, Visible
from demur.core.parsing.lexer import Token
from demur.core.parsing.stated_confidence import read_claim_value


class OpenClaim:
    """A claim whose closing tag has not come yet."""

    def __init__(self, token: Token) -> None:
        self.value = token.value
        self.explaining = token.quoted
        self.explained = token.quoted
        self.explanation: list[str] = []
        self.held: list[Token] = []
        self._parts: list[str] = []
        self._start = 0

    def end_explanation(self, token: Token) -> None:
        """The explanation's closing quote; a value that stands behind it counts in place of an earlier one."""
        self.explaining = False
        self.value = self.value if token.value is None else token.value

    def step(self, raw: str, visible: Visible) -> list[Event]:
        """More of the step itself; its span starts at its first character that is no white space."""
        body = raw if self._parts else raw.lstrip()
        events = visible.write(raw[: len(raw) - len(body)])
        if not body:
            return events
        if not self._parts:
            self._start = visible.start()
        told = visible.write(body)
        self._parts += [e.text if self._parts else e.text.lstrip() for e in told if isinstance(e, Delta)]
        return events + told

    def broken_off(self, visible: Visible) -> list[Event]:
        """The quote never closed: the tag then ends at the first `>`, and what follows is the step."""
        why, _, step = "".join(self.explanation).partition(">")
        self.explaining, self.explanation = False, [why]
        return self.step(step, visible)

    def finish(self, visible: Visible, mode: ParseMode, problem: str | None) -> Claim:
        """The whole claim. `problem` says what was wrong with its tags, such as that it was not closed."""
        text = "".join(self._parts)
        start = self._start if text else visible.length
        stated = read_claim_value(self.value, mode)
        problems = list(stated.problems)
        if not text:
            problems.append("empty")
        if problem is not None:
            problems.append(problem)
        if mode == "strict" and not self.explained:
            problems.append("explanation_missing")
        return Claim(
            text=text,
            span=(start, start + len(text)),
            confidence=stated.value,
            explanation="".join(self.explanation).strip(),
            problems=tuple(problems),
        )
