"""What a labelled answer says: not the label again, not the prompt's words, not how sure somebody is."""

import re
from functools import cache
from typing import NamedTuple

from demur.core.parsing.dress import tidy
from demur.core.parsing.labels import Labels
from demur.core.parsing.objects import in_json
from demur.core.parsing.sentence_confidence import sentence_confidence
from demur.core.parsing.sentences import named, said_to_be
from demur.core.parsing.tries import any_case

_ECHO = re.compile(
    r"[*_\s]*(?:let(?:'s| us| me|’s) (?:think|work|solve|go|break|reason|start|first)\b(?=[^\n.]{0,40}\b"
    r"(?:step by step|step-by-step|this (?:out|through|down|step)|through|carefully|problem|question)\b)"
    r"|(?:think(?:ing)? )?step by step\b)",
    re.IGNORECASE,
)
"""The prompt's invitation to think, which base models repeat where the answer should stand."""
_NOUN = "answer|response|guess|result|letter|option|choice|number|value|text|solution|placeholder"
_FILLER = (
    rf"(?:your|the|my|a|an|final|short|concise|exact|best|most|likely|correct|single|only|here|insert|put|write|in|as|of"
    rf"|or|phrase|word|words|integer|one|first|capital|{_NOUN})"
)
_PLACEHOLDER = re.compile(
    rf"[\[<{{(]{{1,2}}(?=[^\]>}})]*\b(?:{_NOUN})\b)\s*{_FILLER}(?:[\s_/-]{{1,3}}{_FILLER}){{0,8}}\s*[\]>}})]{{1,2}}"
    rf"|\$\{{?(?:ANSWER|LETTER|YOUR_ANSWER|FINAL_ANSWER|VALUE|NUMBER)\}}?|\.{{3,}}|…|_{{3,}}|\[(?:X|ANSWER|\.\.\.|…)\]"
    r"|(?-i:YOUR[_ ](?:FINAL[_ ])?ANSWER(?:[_ ]HERE)?)",
    re.IGNORECASE,
)
_DOLLAR = re.compile(r"\$([A-Z])")
_LONGEST = 2000


class Value(NamedTuple):
    """An answer, and a confidence that stood in it, as written."""

    answer: str | None
    stated: str | None = None


def value_of(answer: str, labels: Labels, code: bool = False) -> Value:
    """What a tidied answer says. `code`: it stood in code, and is meant as it is written."""
    if len(answer) > _LONGEST or code or answer.isalnum():
        return Value(answer)
    answer = _without_labels(answer, labels)
    if _PLACEHOLDER.fullmatch(answer):
        return Value(None)
    if answer.startswith(("{", "```")) and (pair := in_json(answer, labels)):
        return Value(tidy(pair.answer, "lenient"), pair.stated)
    if (dollar := _DOLLAR.fullmatch(answer)) is not None:
        return Value(dollar[1])
    if _ECHO.match(answer):
        return Value(tidy(said_to_be(answer, labels), "lenient"))
    if (said := named(answer)) is not None and " " not in said:
        return Value(tidy(said, "lenient"))
    aside = sentence_confidence(answer)
    if aside is not None and aside.start > 0 and aside.end == len(answer.rstrip()):
        return Value(tidy(answer[: aside.start], "lenient"), aside.stated)
    return Value(answer)


def _without_labels(answer: str, labels: Labels) -> str:
    """Answer: Answer: D."""
    pattern = _label(labels)
    for _ in range(4):
        match = pattern.match(answer)
        if match is None:
            break
        answer = tidy(answer[match.end() :], "lenient") or answer
    return answer


@cache
def _label(labels: Labels) -> re.Pattern[str]:
    return re.compile(rf"[*_\"\s]{{0,6}}{any_case(labels.answer)}[*_\"\s]{{0,6}}[:：]\s{{0,4}}(?=\S)", re.IGNORECASE)
