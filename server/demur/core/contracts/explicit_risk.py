"""The explicit-risk contract: the model weighs the threshold in its prompt (arXiv:2512.19920, section 3.2.1)."""

import re

from demur.core.contracts.base import Contract, Solution
from demur.core.contracts.patterns import LINE, UNTAGGED
from demur.core.decision_rules import as_the_model_decided
from demur.core.parsing.explicit_risk import ExplicitRiskReader

_TEMPLATE = """{task} Give an answer only if the chance that it is right is above {percent} percent. A right \
answer earns 1 point, a wrong one {penalty}, and <IDK> earns 0. Finish with one line:
Answer: your answer, or <IDK>

{question}"""

_DECLINED = re.compile(r"^[ \t*]*answer[ \t*]*:[ \t*]*<idk>", re.IGNORECASE | re.MULTILINE)


def _render(solution: Solution) -> str:
    sure_enough = solution.confidence >= solution.risk_threshold
    return f"{solution.reasoning}\nAnswer: {solution.answer if sure_enough else '<IDK>'}"


EXPLICIT_RISK = Contract(
    name="explicit_risk",
    summary="an answer, or <IDK> when the chance of being right is below the threshold in the prompt",
    template=_TEMPLATE,
    # At most 4 lines, then the answer or <IDK>.
    pattern=rf"({LINE}){{0,4}}Answer: (<IDK>|{UNTAGGED})",
    parser=ExplicitRiskReader,
    render=_render,
    recognizes=lambda output: _DECLINED.search(output) is not None,
    decide=as_the_model_decided,
    states_confidence=False,
    states_threshold=True,
)
