"""Where an output goes on after its answer: with a question of its own, or in somebody else's name."""

import re
from typing import Protocol

from demur.core.parsing.boxes import last_boxed
from demur.core.parsing.kinds import Kind
from demur.core.parsing.labels import Labels
from demur.core.parsing.lexer import Token
from demur.core.parsing.marks import Marks
from demur.core.parsing.objects import in_json
from demur.core.parsing.sentences import said_to_be
from demur.core.parsing.unlabelled import after_hashes, best_guess

_OTHERS = re.compile(r"\W*(?:human|user|student)\b", re.IGNORECASE)
_ASSISTANT = re.compile(r"\W*assistant\b", re.IGNORECASE)
_SHORT = re.compile(
    r"(?!(?:let|we|i|here|this|to|the|ok|okay|sure|certainly|hello|hi|yes,|solution|first|step|of course|great)\b)"
    r"[^\s:?!]{1,24}(?: [^\s:?!]{1,24}){0,3}",
    re.IGNORECASE,
)
"""An answer all by itself, as where the prompt ended with its label; not the beginning of a working."""


class Said(Protocol):
    """A stretch of final text so far."""

    marks: Marks
    raw: list[str]
    start: int


class TrailingText:
    """Detects text that follows the answer (another question, another speaker), and keeps it apart."""

    def __init__(self, labels: Labels) -> None:
        self._labels = labels
        self._behind: list[Token] = []
        self.began = False
        self._looked = 0
        self._all_belongs = False
        self.follows_short_answer = False
        """Whether the text before it is the answer, without a label."""

    def takes(self, token: Token, said: Said) -> bool:
        """Whether this token is no part of the answer."""
        if not self._behind and not (token.kind is Kind.TURN and not self._all_belongs and self._opens(token, said)):
            return False
        self._behind.append(token)
        self.began = True
        return True

    def belongs(self, said: Said) -> list[Token]:
        """All that was kept, if a final answer follows where none was called final before."""
        behind, self._behind, self.began = self._behind, [], False
        final = any(token.kind is Kind.ANSWER and "final" in token.raw.lower() for token in behind)
        if not final or self.follows_short_answer or "final" in said.marks.answer_label.lower():
            return []
        self._all_belongs = True
        return behind

    def _opens(self, token: Token, said: Said) -> bool:
        if said.marks.in_code:
            return False
        said.marks.finish()
        if said.marks.answer is not None:
            return True
        part, first = "".join(said.raw[self._looked :]).strip(), self._looked == 0 and said.start == 0
        self._looked = len(said.raw)
        if not part or _ASSISTANT.match(token.raw):
            return False
        if last_boxed(part) or after_hashes(part) or said_to_be(part, self._labels) or best_guess(part):
            return True
        if "{" in part and in_json(part, self._labels):
            return True
        self.follows_short_answer = first and _SHORT.fullmatch(part) is not None
        return self.follows_short_answer or (first and _OTHERS.match(token.raw) is not None)
