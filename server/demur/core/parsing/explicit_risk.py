"""The parser of the explicit-risk contract: an answer or `<IDK>` (arXiv:2512.19920, section 3.2.1)."""

import re

from demur.core.answers import Completion
from demur.core.parsing.kinds import Kind
from demur.core.parsing.response import ResponseReader

_IDK = re.compile(r"<?\s*idk\s*>?|i (?:do not|don't|don’t) know", re.IGNORECASE)


class ExplicitRiskReader(ResponseReader):
    """Finds the answer as under the response contract; a confidence that is stated all the same is not read."""

    def _read_as(self, answer: str | None, stated: str | None, scale: float | None) -> Completion:
        idk = answer is not None and (
            answer == "<IDK>" if self._mode == "strict" else _IDK.fullmatch(answer) is not None
        )
        problems: tuple[str, ...] = ()
        if answer is None:
            problems = ("answer_missing",)
        elif self._mode == "strict" and not self._stretch.marks.ends_with(Kind.ANSWER):
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
