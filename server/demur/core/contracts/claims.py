"""The claims contract: a solution in steps, each with its own confidence (arXiv:2512.19920, section 3.3)."""

import re

from demur.core.contracts.base import Contract, Solution, Step
from demur.core.contracts.patterns import CONTROL, LINE, PROBABILITY, UNTAGGED, WIDE
from demur.core.contracts.tails import Draft, Tail
from demur.core.parsing.claims import ClaimsReader

_TEMPLATE = """{task} First work it out in private. Then write "Solution:" and each step in a tag, with the chance \
from 0 to 1 that the step is right and what could be wrong with it:
Solution:
<Confidence value=0.97 text="small sum">3 + 4 = 7</Confidence>
<Confidence value=0.6 text="the carry in 7 * 86">7 * 86 = 602</Confidence>
Answer:602
The last line is "Answer:" and the final answer.

{question}"""

# No `<`, so that no tag begins inside a step. To allow it where no tag can begin takes a choice inside a counted
# repetition, which makes xgrammar some hundred times slower for every token.
_STEP = rf"[!-;=-~{WIDE}][^<{CONTROL}]{{0,119}}"
_WORRY = rf'[!#-;=?-~{WIDE}][^"<>{CONTROL}]{{0,47}}'
_CLAIM = rf'<Confidence value={PROBABILITY} text="{_WORRY}">{_STEP}</Confidence>\n'

_UNTRAINED = """{task} First work it out step by step, in the language of the question, and check the result. Then \
write the line "Solution:", then the steps of the solution, each one on a line of its own inside a tag, and last the \
line "Answer:" with only the final answer. In each tag, value is the probability from 0 to 1 that the step is right, \
and text is a few words about what could be wrong with it. For example, for the question how much 86 books of 7 euros \
and a pen of 3 euros cost:

The books cost 7 * 86. That is 7 * 80 + 7 * 6 = 560 + 42 = 602 euros. With the pen it is 605 euros.
Solution:
<Confidence value=0.8 text="the carry">The books cost 7 * 86 = 602 euros.</Confidence>
<Confidence value=0.97 text="small sum">With the pen it is 602 + 3 = 605 euros.</Confidence>
Answer: 605 euros

Be honest about what you do not know: a high value is only for what you have checked, a low one for a guess.

{question}"""

_REQUEST = """Now write your solution in exactly this form and nothing else, with a probability from 0 to 1 that each \
step is right, and what could be wrong with it:
Solution:
<Confidence value=0.8 text="the carry">The books cost 7 * 86 = 602 euros.</Confidence>
Answer: 602 euros"""

# In a tail steps are as many and as long as the tokens last. A `<` stands in them where no tag can begin: before no
# letter that another one follows. Without a counted repetition around it that choice costs nothing, as long as the
# alternatives stand side by side: 4 microseconds a token, as an EBNF grammar takes, and 9,000 with one inside another
# (`python -m bench constraints`).
_LESS = r"<[ =0-9$(.+\\\-]|<[A-Za-z][ 0-9+*=),.^_\-]"
_REST_OF_STEP = rf"([^<{CONTROL}]|{_LESS})*</Confidence>\n"
_WHOLE_STEP = rf"[!-;=-~{WIDE}]{_REST_OF_STEP}"
_REST_OF_CLAIM = rf'{PROBABILITY} text="{_WORRY}">{_WHOLE_STEP}'
_FREE_CLAIM = f"<Confidence value={_REST_OF_CLAIM}"
_REST_OF_ANSWER = rf"[^<>{CONTROL}]{{0,59}}"
_MORE = f"({_FREE_CLAIM})*Answer: {UNTAGGED}"
_FORM = f"Solution:\n({_FREE_CLAIM})+Answer: {UNTAGGED}"
_OPEN_TAG = re.compile(
    r"<confidence\s{1,8}value\s{0,8}=\s{0,8}[^\s<>\"']{1,16}\s{0,8}"
    r"(?:text\s{0,8}=\s{0,8}\"[^\"<>\n]{0,200}(?P<end>\"\s{0,8}>)?|(?P<bare>>))",
    re.IGNORECASE,
)
"""The tag that a step begins with, as far as it goes."""

_TAG = re.compile(r"<confidence\s{1,8}(?:value|text)\s{0,4}=", re.IGNORECASE)


def _tail(opening: str, pattern: str, example: str) -> Tail:
    return Tail(opening=opening, pattern=pattern, example=example, request=_REQUEST, request_pattern=_FORM)


def _tails(draft: Draft) -> list[Tail]:
    """The rest of a solution that was begun: of a step or its tag, of the list of steps, of the answer's line. Where
    none of that can be read, a whole one, which takes the place of the steps before it and of their doubt."""
    if CLAIMS.is_complete(draft.completion) and not (draft.cut and draft.answer_so_far):
        return []
    opening = f"{draft.gap}Solution:\n<Confidence value="
    return [*_rest(draft), _tail(opening, f"{_REST_OF_CLAIM}{_MORE}", '0.5 text="a">b</Confidence>\nAnswer: 0')]


def _rest(draft: Draft) -> list[Tail]:
    has_steps = bool(draft.completion.claims)
    if (so_far := draft.answer_so_far) is not None and has_steps:
        return [_tail("", _REST_OF_ANSWER if so_far else f" ?{UNTAGGED}", "0")]
    line = "" if draft.text.endswith("\n") else "\n"
    go_on = [_tail(line, _MORE, "Answer: 0")] if has_steps else []
    opened, closed = (draft.text.lower().rfind(tag) for tag in ("<confidence", "</confidence"))
    if opened > closed:
        return [*_rest_of_step(draft.text[opened:]), *go_on]
    if not has_steps or draft.cut:
        return go_on
    return [_tail(f"{line}Answer:", f" {UNTAGGED}", " 0")]


def _rest_of_step(text: str) -> list[Tail]:
    """`text` begins with the tag of a step that was not closed."""
    if (tag := _OPEN_TAG.match(text)) is None:
        return []
    if tag["end"] or tag["bare"]:
        if "\n" in text:  # what a step may not have: it is over, and the list goes on
            return [_tail("</Confidence>\n", _MORE, "Answer: 0")]
        return [_tail("", f"{_REST_OF_STEP}{_MORE}", "b</Confidence>\nAnswer: 0")]
    if tag.end() < len(text):
        return []
    return [_tail('">', f"{_WHOLE_STEP}{_MORE}", "b</Confidence>\nAnswer: 0")]


def _render(solution: Solution) -> str:
    """The last step is as sure as the answer."""
    *others, last = solution.steps
    steps = [*others, Step(last.text, solution.confidence, last.worry)]
    tags = [f'<Confidence value={s.confidence} text="{s.worry}">{s.text}</Confidence>' for s in steps]
    return "\n".join(["Let me see.", "Solution:", *tags, f"Answer:{solution.answer}"])


CLAIMS = Contract(
    name="claims",
    summary="a solution in steps, each with its own confidence",
    template=_TEMPLATE,
    untrained_template=_UNTRAINED,
    tails=_tails,
    tail_tokens=320,
    most_tail_tokens=None,
    # At most 2 lines, then 1 to 6 claims and the answer.
    pattern=rf"({LINE}){{0,2}}Solution:\n({_CLAIM}){{1,6}}Answer: {UNTAGGED}",
    parser=ClaimsReader,
    render=_render,
    recognizes=lambda output: _TAG.search(output) is not None,
    has_claims=True,
)
