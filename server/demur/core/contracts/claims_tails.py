"""The tails of the claims contract: what completes a solution that a model wrote in its own way."""

import re

from demur.core.contracts.patterns import CONTROL, PROBABILITY, UNTAGGED, WIDE, WORRY
from demur.core.contracts.tails import Draft, Tail, is_complete

REQUEST = """Now write your solution in exactly this form and nothing else, with a probability from 0 to 1 that each \
step is right, and what could be wrong with it:
Solution:
<Confidence value=0.8 text="the carry">The books cost 7 * 86 = 602 euros.</Confidence>
Answer: 602 euros"""

# In a tail steps are as many and as long as the tokens last. A `<` stands in them where no tag can begin: before
# numbers, brackets, Greek letters and signs of mathematics, and a letter that no other one follows. Without a counted
# repetition around it that choice costs nothing, as long as the alternatives stand side by side: 4 microseconds a
# token, as an EBNF grammar takes, and 9,000 with one inside another (`python -m bench constraints`).
_LESS = r"<[ =0-9$(.+{\[\\\-\u0391-\u03c9\u2200-\u22ff]|<[A-Za-z][ 0-9+*=),.^_\-]"
_REST_OF_STEP = rf"([^<{CONTROL}]|{_LESS})*</Confidence>\n"
_WHOLE_STEP = rf"[!-;=-~{WIDE}]{_REST_OF_STEP}"
_REST_OF_CLAIM = rf'{PROBABILITY} text="{WORRY}">{_WHOLE_STEP}'
_FREE_CLAIM = f"<Confidence value={_REST_OF_CLAIM}"
REST_OF_ANSWER = rf"[^<>{CONTROL}]{{0,59}}"
_MORE = f"({_FREE_CLAIM})*Answer: {UNTAGGED}"
_FORM = f"Solution:\n({_FREE_CLAIM})+Answer: {UNTAGGED}"
FIRST_TAG = "Solution:\n<Confidence value="
EXAMPLE = '0.5 text="a">b</Confidence>\nAnswer: 0'

OPEN_TAG = re.compile(
    r"<confidence\s{1,8}value\s{0,8}=\s{0,8}[^\s<>\"']{1,16}\s{0,8}"
    r"(?:text\s{0,8}=\s{0,8}\"[^\"<>\n]{0,200}(?P<quote>\"\s{0,8}(?P<end>>)?)?|(?P<bare>>))",
    re.IGNORECASE,
)
"""The tag that a step begins with, from its worry on as far as it goes."""
CLOSING = "</Confidence>"
_OPENING = re.compile("<confidence", re.IGNORECASE)
_CLOSING = re.compile(r"</confidence\s{0,8}>", re.IGNORECASE)


def _tail(opening: str, pattern: str, example: str) -> Tail:
    return Tail(opening=opening, pattern=pattern, example=example, request=REQUEST, request_pattern=_FORM)


def tails(draft: Draft) -> list[Tail]:
    """The rest of a solution that was begun: of a step or its tag, of the list of steps, of the answer's line. Where
    none of that can be read, a whole one, which takes the place of the steps before it and of their doubt."""
    if is_over(draft):
        return []
    return [*_rest(draft), _tail(f"{draft.gap}{FIRST_TAG}", f"{_REST_OF_CLAIM}{_MORE}", EXAMPLE)]


def is_over(draft: Draft) -> bool:
    """Whether nothing is missing of a draft, and its answer was not cut off."""
    return is_complete(draft.completion) and not (draft.cut and draft.answer_so_far)


def open_step(draft: Draft) -> str | None:
    """The output from the tag on of a step that was not closed."""
    *_, opened = (-1, *(tag.start() for tag in _OPENING.finditer(draft.text)))
    return None if opened < 0 or _CLOSING.search(draft.text, opened) else draft.text[opened:]


def rest_of_closing(text: str) -> str:
    """What is missing of the tag that closes a step, of which `text` may end with a part."""
    return next(CLOSING[n:] for n in (*range(len(CLOSING) - 1, 1, -1), 0) if text.endswith(CLOSING[:n]))


def _rest(draft: Draft) -> list[Tail]:
    has_steps = bool(draft.completion.claims)
    if (so_far := draft.answer_so_far) is not None and has_steps:
        return [_tail("", REST_OF_ANSWER if so_far else f" ?{UNTAGGED}", "0")]
    line = "" if draft.text.endswith("\n") else "\n"
    go_on = [_tail(line, _MORE, "Answer: 0")] if has_steps else []
    if (begun := open_step(draft)) is not None:
        return [*_rest_of_step(begun), *go_on]
    if not has_steps or draft.cut:
        return go_on
    return [_tail(f"{line}Answer:", f" {UNTAGGED}", " 0")]


def _rest_of_step(text: str) -> list[Tail]:
    """`text` begins with the tag of a step that was not closed."""
    if (tag := OPEN_TAG.match(text)) is None:
        return []
    if tag["end"] or tag["bare"]:
        rest = rest_of_closing(text)
        if "\n" in text or rest != CLOSING:  # a step has no lines: it is over, and the list goes on
            return [_tail(f"{rest}\n", _MORE, "Answer: 0")]
        return [_tail("", f"{_REST_OF_STEP}{_MORE}", "b</Confidence>\nAnswer: 0")]
    if tag.end() < len(text):
        return []
    return [_tail(">" if tag["quote"] else '">', f"{_WHOLE_STEP}{_MORE}", "b</Confidence>\nAnswer: 0")]
