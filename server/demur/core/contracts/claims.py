"""The claims contract: a solution in steps, each with its own confidence (arXiv:2512.19920, section 3.3)."""

import re

from demur.core.contracts.base import Contract, Solution, Step
from demur.core.contracts.claims_last_tail import last_tails
from demur.core.contracts.claims_tails import tails
from demur.core.contracts.patterns import CONTROL, LINE, PROBABILITY, UNTAGGED, WIDE, WORRY
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
_CLAIM = rf'<Confidence value={PROBABILITY} text="{WORRY}">{_STEP}</Confidence>\n'

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

_TAG = re.compile(r"<confidence\s{1,8}(?:value|text)\s{0,4}=", re.IGNORECASE)


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
    tails=tails,
    tail_tokens=320,
    most_tail_tokens=None,
    last_tails=last_tails,
    last_tail_tokens=48,
    # At most 2 lines, then 1 to 6 claims and the answer.
    pattern=rf"({LINE}){{0,2}}Solution:\n({_CLAIM}){{1,6}}Answer: {UNTAGGED}",
    parser=ClaimsReader,
    render=_render,
    recognizes=lambda output: _TAG.search(output) is not None,
    has_claims=True,
)
