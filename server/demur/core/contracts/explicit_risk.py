"""The explicit-risk contract: the model weighs the threshold in its prompt (arXiv:2512.19920, section 3.2.1)."""

import re

from demur.core.contracts.base import Contract, Solution
from demur.core.contracts.patterns import LINE, UNTAGGED
from demur.core.contracts.tails import REST_OF_ANSWER, Draft, Tail
from demur.core.decision_rules import as_the_model_decided
from demur.core.parsing.explicit_risk import ExplicitRiskReader

_TEMPLATE = """{task} Give an answer only if the chance that it is right is above {percent} percent. A right \
answer earns 1 point, a wrong one {penalty}, and <IDK> earns 0. Finish with one line:
Answer: your answer, or <IDK>

{question}"""

_UNTRAINED = """{task} Reason step by step first, in the language of the question, and check the result. Then weigh \
the risk: a right answer earns 1 point, a wrong one {penalty}, and <IDK> earns 0. So answer only if the chance that \
you are right is above {percent} percent, and decline otherwise. Finish with one line: "Answer:" with the final \
answer alone in \\boxed{{}}, or with <IDK>.

{question}"""

_REQUEST = """Now finish with one line and write nothing else: "Answer:" with the final answer alone in \\boxed{}, or \
with <IDK>."""

_VALUE = f" (<IDK>|{UNTAGGED})"


def _tail(opening: str, pattern: str, example: str) -> Tail:
    return Tail(opening=opening, pattern=pattern, example=example, request=_REQUEST, request_pattern=f"Answer:{_VALUE}")


def _tails(draft: Draft) -> list[Tail]:
    """The rest of an answer line that was begun or cut off, or the whole line."""
    so_far, tails = draft.answer_so_far, list[Tail]()
    if so_far and draft.cut:
        tails = [_tail("", REST_OF_ANSWER, "")]
    elif EXPLICIT_RISK.is_complete(draft.completion):
        return []
    elif so_far is not None:
        tails = [_tail("", _VALUE[draft.last_line.endswith(" ") :], " 0")]
    return [*tails, _tail(f"{draft.gap}Answer:", _VALUE, " 0")]


_DECLINED = re.compile(r"^[ \t*]*answer[ \t*]*:[ \t*]*<idk>", re.IGNORECASE | re.MULTILINE)


def _render(solution: Solution) -> str:
    sure_enough = solution.confidence >= solution.risk_threshold
    return f"{solution.reasoning}\nAnswer: {solution.answer if sure_enough else '<IDK>'}"


EXPLICIT_RISK = Contract(
    name="explicit_risk",
    summary="an answer, or <IDK> when the chance of being right is below the threshold in the prompt",
    template=_TEMPLATE,
    untrained_template=_UNTRAINED,
    tails=_tails,
    # At most 4 lines, then the answer or <IDK>.
    pattern=rf"({LINE}){{0,4}}Answer: (<IDK>|{UNTAGGED})",
    parser=ExplicitRiskReader,
    render=_render,
    recognizes=lambda output: _DECLINED.search(output) is not None,
    decide=as_the_model_decided,
    states_confidence=False,
    states_threshold=True,
)
