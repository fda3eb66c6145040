"""The reward of one output: what verl's reward managers and TRL's trainers call.

Same reader (strict), same equivalence and same scoring rules as the server and the evaluation. Looked at in this
order: was it cut off (overlong), does it break the contract (violation), else the score; an output that was cut off did
not get to write its ending. The soft overlong punishment is added by verl's reward manager, which knows the tokens.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from demur.core import reward_rules
from demur.core.answers import Aggregation, Completion
from demur.core.contracts import CONTRACTS
from demur.core.equivalence import is_correct
from demur.core.reader import read
from demur_training.errors import DataError, RecipeError

Rule = Literal["binary", "success", "brier", "cross_entropy", "explicit_risk"]
Grade = Callable[[str | None, Any], bool]
"""Whether an answer means the same as one of the accepted ones."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one output came to, ready to be scored.

    `confidence` is the one that is scored: 0 when overlong, which counts as abstaining, and 1 after a violation,
    which counts as a wrong answer given with full confidence.
    """

    valid: bool
    confidence: float
    abstained: bool = False
    risk_threshold: float = 0.0


class Reward(TypedDict):
    """The score, and what a log wants to know. `confidence` is the stated one, None where none could be read."""

    score: float
    valid: float
    confidence: float | None
    format: float
    overlong: float
    abstained: float
    claims: float


REWARD_RULES: Mapping[Rule, Callable[[Outcome], float]] = {
    "binary": lambda o: reward_rules.binary(o.valid),
    "success": lambda o: float(o.valid),
    "brier": lambda o: reward_rules.brier(o.confidence, o.valid),
    "cross_entropy": lambda o: reward_rules.cross_entropy(o.confidence, o.valid),
    "explicit_risk": lambda o: reward_rules.explicit_risk(o.valid, o.risk_threshold, o.abstained),
}


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    *,
    rule: Rule = "brier",
    contract: str = "response",
    aggregation: Aggregation = "min",
    grade: Grade = is_correct,
) -> Reward:
    """Score one output against its ground truth; verl's signature, `rule` to `aggregation` from the recipe.

    `ground_truth` holds one accepted answer a line.

    `extra_info` carries `truncated` (the output was cut at the token limit; our reward manager knows) and
    `risk_threshold` (explicit risk). `grade` is how answers are compared; our reward manager passes a grader that also
    compares formulas by value.
    """
    info = extra_info or {}
    completion = read(solution_str, contract, "strict", aggregation=aggregation)
    overlong = bool(info.get("truncated", False))
    threshold = info.get("risk_threshold")
    if threshold is None and CONTRACTS[contract].states_threshold:
        raise DataError("the row has no extra_info.risk_threshold: write the data with --recipe explicit-risk")
    outcome = judge(completion, ground_truth, overlong, threshold or 0.0, grade)
    return Reward(
        score=REWARD_RULES[rule](outcome),
        valid=float(outcome.valid),
        confidence=None if overlong or completion.violation else completion.confidence,
        format=float(not completion.violation),
        overlong=float(overlong),
        abstained=float(outcome.abstained),
        claims=float(len(completion.claims)),
    )


def judge(completion: Completion, ground_truth: str, overlong: bool, risk_threshold: float, grade: Grade) -> Outcome:
    """Overlong first, then violation, then what the output says."""
    if overlong:
        return Outcome(valid=False, confidence=0.0, abstained=True, risk_threshold=risk_threshold)
    if completion.violation:
        return Outcome(valid=False, confidence=1.0, risk_threshold=risk_threshold)
    valid = grade(completion.answer, ground_truth.split("\n"))
    return Outcome(valid, completion.confidence or 0.0, completion.idk, risk_threshold)


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise RecipeError unless the recipe names a rule we have, and one its contract can feed."""
    rule, contract = settings.get("rule"), settings.get("contract")
    if rule not in REWARD_RULES:
        raise RecipeError(f"no such reward rule: {rule}; there are {', '.join(REWARD_RULES)}")
    if contract not in CONTRACTS:
        raise RecipeError(f"no such contract: {contract}; there are {', '.join(CONTRACTS)}")
    if (rule == "explicit_risk") != CONTRACTS[contract].states_threshold:
        raise RecipeError(f"the rule {rule} cannot score the contract {contract}: explicit_risk goes with itself only")
