"""The response contract: free reasoning, an answer, one confidence for it (arXiv:2512.19920, section 3.2)."""

import re

from demur.core.contracts.base import Contract, Solution
from demur.core.contracts.patterns import CONTROL, LINE, PROBABILITY, WIDE
from demur.core.contracts.tails import ANSWER, REST_OF_ANSWER, Draft, Tail
from demur.core.parsing.response import ResponseReader

_TEMPLATE = """{task} Always give your best answer. Finish with exactly two lines:
Answer: your answer
Confidence: the chance that it is right, from 0 to 1

{question}"""

# What the two lines hold is said in words: a form with words to fill in is copied as it stands by small models. The box
# keeps sentences out of the answer.
_UNTRAINED = """{task} Reason step by step first, in the language of the question, and check the result. Then finish \
with two lines. The first is "Answer:" with the final answer alone in \\boxed{{}}. The second is "Confidence:" with \
the probability, a number from 0 to 1, that this answer is right: high only for what you have checked, low for a \
guess.

{question}"""

_REQUEST = """Now finish with two lines and write nothing else. The first is "Answer:" with the final answer alone in \
\\boxed{}. The second is "Confidence:" with the probability, a number from 0 to 1, that this answer is right."""

_CONFIDENCE = rf"\nConfidence: {PROBABILITY}"
_FORM = f"Answer:{ANSWER}{_CONFIDENCE}"
_CONFIDENCE_LINE = re.compile(r"[\s*_#>-]{0,8}confidence[*_ ]{0,4}:[*_ \t]*([01]?\.?)", re.IGNORECASE)
_REST_OF_NUMBER = {
    "": (rf" ?{PROBABILITY}", " 0.5"),
    "0": (r"\.[0-9]{1,2}", ".5"),
    ".": ("[0-9]{1,2}", "5"),
    "0.": ("[0-9]{1,2}", "5"),
    "1": (r"\.0", ".0"),
    "1.": ("0", "0"),
}
"""By what stands behind the label: what may follow, and an example of it."""


def _tail(opening: str, pattern: str, example: str) -> Tail:
    return Tail(opening=opening, pattern=pattern, example=example, request=_REQUEST, request_pattern=_FORM)


def _tails(draft: Draft) -> list[Tail]:
    """Only what is missing: the rest of a line that was begun, the confidence of an answer that stands there, or both
    lines. A number that was cut off is not taken for a whole one."""
    tails: list[Tail] = []
    so_far, begun = draft.answer_so_far, _CONFIDENCE_LINE.fullmatch(draft.last_line)
    if begun and (draft.cut or begun[1] not in ("0", "1")):
        tails.append(_tail("", *_REST_OF_NUMBER[begun[1]]))
    elif RESPONSE.is_complete(draft.completion):
        return []
    elif so_far is not None and not so_far:
        tails.append(_tail("", ANSWER[draft.last_line.endswith(" ") :] + _CONFIDENCE, " 0\nConfidence: 0.5"))
    elif so_far and draft.cut:
        tails.append(_tail("", REST_OF_ANSWER + _CONFIDENCE, "\nConfidence: 0.5"))
    elif draft.has_answer:
        line = "" if draft.text.endswith("\n") else "\n"
        tails.append(_tail(f"{line}Confidence:", f" {PROBABILITY}", " 0.5"))
    return [*tails, _tail(f"{draft.gap}Answer:", ANSWER + _CONFIDENCE, " 0\nConfidence: 0.5")]


def _render(solution: Solution) -> str:
    return f"{solution.reasoning}\nAnswer: {solution.answer}\nConfidence: {solution.confidence}"


RESPONSE = Contract(
    name="response",
    summary="an answer, and one confidence for it",
    template=_TEMPLATE,
    untrained_template=_UNTRAINED,
    tails=_tails,
    # At most 4 lines, then the answer and a confidence.
    pattern=rf"({LINE}){{0,4}}Answer: [!-~{WIDE}][^{CONTROL}]{{0,59}}\nConfidence: {PROBABILITY}",
    parser=ResponseReader,
    render=_render,
    recognizes=lambda output: False,  # it has no mark of its own: what no other contract recognizes is read as this
)
