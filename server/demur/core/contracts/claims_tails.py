"""The tails of the claims contract: what completes a solution that a model wrote in its own way."""

import re

from demur.core.contracts.patterns import CONTROL, PROBABILITY, UNTAGGED, WIDE, WORRY
from demur.core.contracts.tails import Draft, Tail, is_complete

_REQUEST = """Now write your solution in exactly this form and nothing else, with a probability from 0 to 1 that each \
step is right, and what could be wrong with it:
Solution:
<Confidence value=0.8 text="the carry">The books cost 7 * 86 = 602 euros.</Confidence>
Answer: 602 euros"""

_LAST_REQUEST = """Now write one more line and nothing else: "Answer:" and the final answer."""

# In a tail steps are as many and as long as the tokens last. A `<` stands in them where no tag can begin: before
# numbers, brackets, Greek letters and signs of mathematics, and a letter that no other one follows. Without a counted
# repetition around it that choice costs nothing, as long as the alternatives stand side by side: 4 microseconds a
# token, as an EBNF grammar takes, and 9,000 with one inside another (`python -m bench constraints`).
_LESS = r"<[ =0-9$(.+{\[\\\-\u0391-\u03c9\u2200-\u22ff]|<[A-Za-z][ 0-9+*=),.^_\-]"
_REST_OF_STEP = rf"([^<{CONTROL}]|{_LESS})*</Confidence>\n"
_WHOLE_STEP = rf"[!-;=-~{WIDE}]{_REST_OF_STEP}"
_REST_OF_CLAIM = rf'{PROBABILITY} text="{WORRY}">{_WHOLE_STEP}'
_FREE_CLAIM = f"<Confidence value={_REST_OF_CLAIM}"
_REST_OF_ANSWER = rf"[^<>{CONTROL}]{{0,59}}"
_MORE = f"({_FREE_CLAIM})*Answer: {UNTAGGED}"
_CLOSED = "</Confidence>"
_SHORT_STEP = rf"[!-;=-~{WIDE}][^<{CONTROL}]{{0,23}}"
_END_IN_SHORT = f"{_SHORT_STEP}</Confidence>\nAnswer: {UNTAGGED}"
_FIRST_TAG = "Solution:\n<Confidence value="
_EXAMPLE = '0.5 text="a">b</Confidence>\nAnswer: 0'
_FORM = f"Solution:\n({_FREE_CLAIM})+Answer: {UNTAGGED}"
_OPEN_TAG = re.compile(
    r"<confidence\s{1,8}value\s{0,8}=\s{0,8}[^\s<>\"']{1,16}\s{0,8}"
    r"(?:text\s{0,8}=\s{0,8}\"[^\"<>\n]{0,200}(?P<end>\"\s{0,8}>)?|(?P<bare>>))",
    re.IGNORECASE,
)
"""The tag that a step begins with, as far as it goes."""


def _tail(opening: str, pattern: str, example: str) -> Tail:
    return Tail(opening=opening, pattern=pattern, example=example, request=_REQUEST, request_pattern=_FORM)


def _last_tail(opening: str, pattern: str, example: str) -> Tail:
    return Tail(
        opening=opening, pattern=pattern, example=example, request=_LAST_REQUEST, request_pattern=f"Answer: {UNTAGGED}"
    )


def tails(draft: Draft) -> list[Tail]:
    """The rest of a solution that was begun: of a step or its tag, of the list of steps, of the answer's line. Where
    none of that can be read, a whole one, which takes the place of the steps before it and of their doubt."""
    if _is_complete(draft):
        return []
    return [*_rest(draft), _tail(f"{draft.gap}{_FIRST_TAG}", f"{_REST_OF_CLAIM}{_MORE}", _EXAMPLE)]


def last_tails(draft: Draft) -> list[Tail]:
    """The answer behind the steps that used up a tail's tokens. An open step ends where it is, or in a few words."""
    if _is_complete(draft):
        return []
    line = "" if draft.text.endswith("\n") else "\n"
    answer = [_last_tail(f"{line}Answer:", f" {UNTAGGED}", " 0")] if draft.completion.claims else []
    if (so_far := draft.answer_so_far) is not None and answer:
        return [_last_tail("", _REST_OF_ANSWER if so_far else f" ?{UNTAGGED}", "0")]
    anew = _last_tail(f"{draft.gap}{_FIRST_TAG}", f'{PROBABILITY} text="{WORRY}">{_END_IN_SHORT}', _EXAMPLE)
    return [*_end_of_step(draft), *answer, anew]


def _is_complete(draft: Draft) -> bool:
    return is_complete(draft.completion) and not (draft.cut and draft.answer_so_far)


def _end_of_step(draft: Draft) -> list[Tail]:
    if (text := _open_step(draft)) is None or (tag := _OPEN_TAG.match(text)) is None:
        return []
    in_short = "b</Confidence>\nAnswer: 0"
    if not (tag["end"] or tag["bare"]):
        return [_last_tail('">', _END_IN_SHORT, in_short)] if tag.end() == len(text) else []
    if not text[tag.end() :].strip():
        return [_last_tail("", _END_IN_SHORT, in_short)]
    return [_last_tail(f"{_rest_of_tag(text)}\nAnswer:", f" {UNTAGGED}", " 0")]


def _rest_of_tag(text: str) -> str:
    """What is missing of the closing tag, of which `text` may end with a part."""
    return next(_CLOSED[n:] for n in (*range(len(_CLOSED) - 1, 1, -1), 0) if text.endswith(_CLOSED[:n]))


def _rest(draft: Draft) -> list[Tail]:
    has_steps = bool(draft.completion.claims)
    if (so_far := draft.answer_so_far) is not None and has_steps:
        return [_tail("", _REST_OF_ANSWER if so_far else f" ?{UNTAGGED}", "0")]
    line = "" if draft.text.endswith("\n") else "\n"
    go_on = [_tail(line, _MORE, "Answer: 0")] if has_steps else []
    if (begun := _open_step(draft)) is not None:
        return [*_rest_of_step(begun), *go_on]
    if not has_steps or draft.cut:
        return go_on
    return [_tail(f"{line}Answer:", f" {UNTAGGED}", " 0")]


def _open_step(draft: Draft) -> str | None:
    """The output from the tag on of a step that was not closed."""
    opened, closed = (draft.text.lower().rfind(tag) for tag in ("<confidence", "</confidence"))
    return draft.text[opened:] if opened > closed else None


def _rest_of_step(text: str) -> list[Tail]:
    """`text` begins with the tag of a step that was not closed."""
    if (tag := _OPEN_TAG.match(text)) is None:
        return []
    if tag["end"] or tag["bare"]:
        if "\n" in text:  # what a step may not have: it is over, and the list goes on
            return [_tail("</Confidence>\n", _MORE, "Answer: 0")]
        if (rest := _rest_of_tag(text)) != _CLOSED:
            return [_tail(f"{rest}\n", _MORE, "Answer: 0")]
        return [_tail("", f"{_REST_OF_STEP}{_MORE}", "b</Confidence>\nAnswer: 0")]
    if tag.end() < len(text):
        return []
    return [_tail('">', f"{_WHOLE_STEP}{_MORE}", "b</Confidence>\nAnswer: 0")]
