"""The tail of an output: the few lines that complete what a model has reasoned in its own way."""

import re
from dataclasses import dataclass

from demur.core.answers import Completion
from demur.core.contracts.patterns import CONTROL, WIDE

ANSWER = rf" [!-~{WIDE}][^{CONTROL}]{{0,59}}"
"""What follows an answer's label: a value of at most 60 characters."""
REST_OF_ANSWER = rf"[^{CONTROL}]{{0,59}}"

_ANSWER_LINE = re.compile(r"[\s*_#>-]{0,8}(?:the |my )?(?:final )?answer[*_ ]{0,4}[:：][*_ \t]*", re.IGNORECASE)
_CONFIDENCE = re.compile(r"[\s*_#>-]{0,8}confidence", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Draft:
    """An output as far as it goes: what a model wrote until it ended, or was `cut` at its limit.

    `text` is all of it as written, `completion` what could be read.
    """

    text: str
    completion: Completion
    cut: bool

    @property
    def last_line(self) -> str:
        return self.text[self.text.rfind("\n") + 1 :]

    @property
    def gap(self) -> str:
        """The line breaks that have to be added before a new line can begin: a blank line, or nothing."""
        return "\n\n" if self.text.strip() and not self.text.endswith("\n") else ""

    @property
    def answer_so_far(self) -> str | None:
        """What stands behind an answer's label on the last line; None where that line is another one."""
        label = _ANSWER_LINE.match(self.last_line)
        return None if label is None else self.last_line[label.end() :]

    @property
    def has_answer(self) -> bool:
        """Whether an answer can be read, and is not what reasoning that was cut off has come to so far."""
        if self.completion.answer is None or not self.cut:
            return self.completion.answer is not None
        lines = [line for line in self.text.splitlines() if line.strip()]
        answers = [i for i, line in enumerate(lines) if (m := _ANSWER_LINE.match(line)) and line[m.end() :].strip()]
        return bool(answers) and all(_CONFIDENCE.match(line) for line in lines[answers[-1] + 1 :])


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """What completes a draft: `opening` is put behind it, and the model goes on in the form of `pattern`.

    `example` is one such rest. A host that cannot continue a reply is asked for `request`, in the form of
    `request_pattern`, behind the draft and `asked_closing`; `asked_example` is one such reply, where it has to be known
    that it can be read. Both patterns are regular expressions.
    """

    opening: str
    pattern: str
    example: str
    request: str
    request_pattern: str
    asked_closing: str = ""
    asked_example: str | None = None


def is_complete(completion: Completion, *, states_confidence: bool = True) -> bool:
    """Whether an output says all that a decision needs."""
    stated = completion.state == "value" or not states_confidence
    return completion.idk or (completion.answer is not None and stated)
