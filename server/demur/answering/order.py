"""A question that was checked, with its clock running: what the answerer works on."""

from demur.answering.asked import Question
from demur.answering.deadline import Deadline
from demur.answering.plan import Plan
from demur.tracing import UNTRACED, Span

CHARS_PER_TOKEN = 4
"""A rough count of a prompt's tokens before anybody has tokenized it."""


class Order:
    """One request. `tokens` is what it has cost so far, prompt and output, also when it is given up half-way.

    `span` is the request in the operator's traces, `caller` tells callers apart.
    """

    def __init__(self, question: Question, plan: Plan, span: Span = UNTRACED, caller: str = "") -> None:
        self.question = question
        self.plan = plan
        self.deadline = Deadline(plan.timeout)
        self.tokens = 0
        self.span = span
        self.caller = caller

    @property
    def prompt_tokens(self) -> int:
        """An estimate."""
        return sum(len(turn["content"]) for turn in self.question.turns) // CHARS_PER_TOKEN + 1

    def most_tokens(self, choices: int, max_model_len: int | None) -> int:
        """What it may take at most while it is answered `choices` times: the prompt once, each sample in full."""
        longest = self.plan.sampling.max_tokens
        if max_model_len is not None:
            longest = min(longest, max_model_len)
        return self.prompt_tokens + choices * self.plan.samples * longest
