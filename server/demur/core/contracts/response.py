"""The response contract: free reasoning, an answer, one confidence for it (arXiv:2512.19920, section 3.2)."""

from demur.core.contracts.base import Contract, Solution
from demur.core.contracts.patterns import CONTROL, LINE, PROBABILITY, WIDE
from demur.core.parsing.response import ResponseReader

_TEMPLATE = """{task} Always give your best answer. Finish with exactly two lines:
Answer: your answer
Confidence: the chance that it is right, from 0 to 1

{question}"""


def _render(solution: Solution) -> str:
    return f"{solution.reasoning}\nAnswer: {solution.answer}\nConfidence: {solution.confidence}"


RESPONSE = Contract(
    name="response",
    summary="an answer, and one confidence for it",
    template=_TEMPLATE,
    # At most 4 lines, then the answer and a confidence.
    pattern=rf"({LINE}){{0,4}}Answer: [!-~{WIDE}][^{CONTROL}]{{0,59}}\nConfidence: {PROBABILITY}",
    parser=ResponseReader,
    render=_render,
    recognizes=lambda output: False,  # it has no mark of its own: what no other contract recognizes is read as this
)
