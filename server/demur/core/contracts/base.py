"""The port for contracts: what a model is asked to print, and what its output means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from demur.core.answers import Completion, Decision, Granularity, ParsedConfidence
from demur.core.contracts.tails import Draft, Tail, is_complete
from demur.core.decision_rules import by_confidence
from demur.core.parsing.port import Parser

DecisionRule = Callable[[Completion, ParsedConfidence, float, Granularity], Decision]
"""(completion with an answer, its confidence, risk threshold in [0, 1], granularity) -> answer or abstain."""

TailsOf = Callable[[Draft], Sequence[Tail]]
"""Draft -> the tails that could complete it, the shortest first; none where it ends as it should."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a solution, with the chance in [0, 1] that it is right and what could be wrong with it."""

    text: str
    confidence: float
    worry: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What a model has to say about one question, before it is put into the form of a contract.

    `confidence` and `risk_threshold` are in [0, 1]; the latter is what the prompt stated, where it states one.
    """

    reasoning: str
    steps: tuple[Step, ...]
    answer: str
    confidence: float
    risk_threshold: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """An output format that a prompt asks for, with the rules that serve, force, read and decide on it.

    `template` is the user message, with the fields `{task}` and `{question}`, and `{percent}` and `{penalty}` where it
    `states_threshold`. `pattern` is a regular expression that a whole output has to match when the model is forced
    (structured outputs). `tails` are what completes an output that a model wrote in its own way; without it the whole
    output is forced. `last_tails` complete what such a tail was cut off in, where tails have no end of their own.
    `untrained_template` is the wording for models that were not trained with `template`, which never changes. `parser`
    reads an output. `render` writes a solution as a trained model would. `recognizes` tells an output of this contract
    from those of others by what is in it.
    """

    name: str
    summary: str
    """What the model prints, as a noun phrase for model cards."""
    template: str
    pattern: str
    parser: Parser
    render: Callable[[Solution], str]
    recognizes: Callable[[str], bool]
    untrained_template: str | None = None
    tails: TailsOf | None = None
    tail_tokens: int = 80
    """How many tokens are kept for the tail, of those that an output may have."""
    most_tail_tokens: int | None = 160
    """How many a tail may take at most, for hosts that cannot force it; None for as many as there are."""
    last_tails: TailsOf | None = None
    last_tail_tokens: int = 0
    """How many of a tail's tokens are kept for the last one."""
    decide: DecisionRule = by_confidence
    states_confidence: bool = True
    """Whether an output carries a probability; otherwise the model itself has weighed the risk."""
    has_claims: bool = False
    """Whether an output is a list of claims, each with its own confidence (granularity `claims`)."""
    states_threshold: bool = False
    """Whether the prompt tells the model the risk threshold."""
    takes_schema: bool = False
    """Whether the caller's JSON Schema says what is printed: it stands in the prompt (`{schema}`) and its paired form
    (`demur.core.fields`) is forced in place of `pattern`. Such an output is read strictly, as it was written."""

    def is_complete(self, completion: Completion) -> bool:
        """Whether an output says all that a decision needs."""
        return is_complete(completion, states_confidence=self.states_confidence)
