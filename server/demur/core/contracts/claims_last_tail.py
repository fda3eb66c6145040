"""The last tail of the claims contract: the answer behind steps that have used up their tokens.

Steps have no number at which they end, so the tail with them may be cut anywhere. What is open then is closed, in a few
words where something is missing, and the answer's line is forced. Few tokens are kept for that: all of it is short.
"""

from demur.core.contracts.claims_tails import (
    CLOSING,
    EXAMPLE,
    FIRST_TAG,
    OPEN_TAG,
    REQUEST,
    REST_OF_ANSWER,
    is_over,
    open_step,
    rest_of_closing,
)
from demur.core.contracts.patterns import CONTROL, PROBABILITY, WIDE
from demur.core.contracts.tails import Draft, Tail

_REQUEST = """Now write one more line and nothing else: "Answer:" and the final answer."""
_ANSWER = rf"[!-;=?-~{WIDE}][^<>{CONTROL}]{{0,39}}"
_STEP = rf"[!-;=-~{WIDE}][^<{CONTROL}]{{0,23}}"
_WORRY = rf'[!#-;=?-~{WIDE}][^"<>{CONTROL}]{{0,15}}'
_FROM_STEP = f"{_STEP}{CLOSING}\nAnswer: {_ANSWER}"
_FROM_WORRY = f'{_WORRY}">{_FROM_STEP}'
_TEXT = ' text="'
_FROM_NUMBER = f"{PROBABILITY}{_TEXT}{_FROM_WORRY}"
_REST_OF_NUMBER = {"": PROBABILITY, "0": r"\.[0-9]{1,2}", "0.": "[0-9]{1,2}", "1": r"\.0", "1.": "0"}
"""By what there is of a probability; nothing has to come behind any other."""
_NUMBERS = {"": "0.5", "0": ".5", "0.": "5", "1": ".0", "1.": "0"}
"""One example for each."""
_TAG, _LABEL = "<Confidence value=", "Answer:"
_LEFT_OUT = "…"
"""The text of a step that was begun in its tag and that nobody will write: a host is asked for the answer alone."""


def last_tails(draft: Draft) -> list[Tail]:
    """What ends a draft that was cut off in its steps, the shortest first; a whole short solution where no step can be
    read."""
    if is_over(draft):
        return []
    whole = Tail(
        opening=f"{draft.gap}{FIRST_TAG}",
        pattern=_FROM_NUMBER,
        example=EXAMPLE,
        request=REQUEST,
        request_pattern=f"{FIRST_TAG}{_FROM_NUMBER}",
        asked_example=f"{FIRST_TAG}{EXAMPLE}",
    )
    return [*_rest_of_step(draft), *_rest_of_line(draft), whole]


def _tail(opening: str, pattern: str, example: str, *, closing: str = "") -> Tail:
    return Tail(
        opening=opening,
        pattern=pattern,
        example=example,
        request=_REQUEST,
        request_pattern=f"Answer: {_ANSWER}",
        asked_closing=closing,
        asked_example="Answer: 0",
    )


def _rest_of_step(draft: Draft) -> list[Tail]:
    """Where a step is open whose tag has come to its worry at least."""
    text = open_step(draft)
    if text is None or (tag := OPEN_TAG.match(text)) is None:
        return []
    step, example = text[tag.end() :], f"b{CLOSING}\nAnswer: 0"
    if tag["end"] or tag["bare"]:
        if not step.strip():
            return [_tail("", _FROM_STEP, example, closing=f"{_LEFT_OUT}{CLOSING}")]
        missing = rest_of_closing(text)
        return [_tail(f"{missing}\nAnswer:", f" {_ANSWER}", " 0", closing=missing)]
    missing = ">" if tag["quote"] else '">'
    return [] if step else [_tail(missing, _FROM_STEP, example, closing=f"{missing}{_LEFT_OUT}{CLOSING}")]


def _rest_of_line(draft: Draft) -> list[Tail]:
    """Behind a step: what is missing of the answer's line, or of the tag of another step up to its worry."""
    if not draft.completion.claims:
        return []
    line, answer = draft.last_line, f" {_ANSWER}"
    if (so_far := draft.answer_so_far) is not None:
        return [_tail("", REST_OF_ANSWER if so_far else f" ?{_ANSWER}", "0")]
    if line and _LABEL.startswith(line):
        return [_tail(_LABEL[len(line) :], answer, " 0")]
    return [*_rest_of_tag(line), _tail(f"\n{_LABEL}" if line else _LABEL, answer, " 0")]


def _rest_of_tag(line: str) -> list[Tail]:
    """Of a tag that was cut off before its worry."""
    if not line or not (_TAG.startswith(line) or line.startswith(_TAG)):
        return []
    if len(line) < len(_TAG):
        return [_tail(_TAG[len(line) :], _FROM_NUMBER, EXAMPLE)]
    number, space, begun = line.removeprefix(_TAG).partition(" ")
    if not space and number in _REST_OF_NUMBER:
        rest = f"{_REST_OF_NUMBER[number]}{_TEXT}{_FROM_WORRY}"
        return [_tail("", rest, f"{_NUMBERS[number]}{EXAMPLE.removeprefix('0.5')}")]
    if _TEXT.startswith(space + begun):
        return [_tail(_TEXT[len(space + begun) :], _FROM_WORRY, EXAMPLE.removeprefix('0.5 text="'))]
    return []
