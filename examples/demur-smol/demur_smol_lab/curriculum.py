"""The curriculum: which training problems a plan shows worked out and which it asks, the same whenever looked up."""

from collections.abc import Iterator, Mapping
from itertools import islice

from demur.core.answers import ContractName
from demur_smol_lab.plan import Plan
from demur_smol_lab.problems import knowledge
from demur_smol_lab.problems.gsm8k import SCHOOL, read_gsm8k
from demur_smol_lab.problems.hard_negatives import HARD_NEGATIVES
from demur_smol_lab.problems.mix import MIX, SHOWN, distinct, problems
from demur_smol_lab.problems.problem import Problem
from demur_smol_lab.problems.splits import Split, may_be_shown, split_of
from demur_smol_lab.problems.unfamiliar import UNFAMILIAR

CONTRACTS: tuple[ContractName, ...] = ("response", "claims")
LAST = 4
"""The number of the last round."""
SOLVED = 4
"""Of the school problems in the warm start every fourth is solved in claims; the others are only answered."""


def warm_start(plan: Plan) -> list[tuple[Problem, ContractName]]:
    """What the warm start shows: graded problems, and the first school problems."""
    school: list[tuple[Problem, ContractName]] = [
        (problem, CONTRACTS[i % SOLVED == SOLVED - 1]) for i, problem in enumerate(_school()[: plan.school[0]])
    ]
    return [*_shown(plan.warm, plan.seed), *school]


def worked_seed(plan: Plan, number: int) -> int:
    return plan.seed + 6000 + 10 * number


def worked(plan: Plan, number: int) -> list[tuple[Problem, ContractName]]:
    """What is shown beside what round `number` learns from its samples."""
    return list(_shown(plan.worked, worked_seed(plan, number)))


def asked(contract: ContractName, count: int, seed: int) -> list[Problem]:
    """`count` graded problems that are never shown."""
    mix = MIX if contract == "response" else with_steps(MIX)
    return distinct("train", count, seed, mix, wanted=lambda problem: not may_be_shown(problem))


def others(plan: Plan, number: int, seed: int) -> Mapping[ContractName, list[Problem]]:
    """The school problems and the unfamiliar ones of round `number`, which are only answered: new ones each time, but
    that the last round comes back to school problems of earlier ones, and asks others of these in claims. It asks hard
    negatives too."""
    shown, count = plan.school
    school = _school()[shown:]
    start = number * count
    if number == LAST and school:
        start %= len(school)
    answered = [*school[start : start + count], *distinct("train", plan.unfamiliar, seed, UNFAMILIAR)]
    if number < LAST:
        return {"response": answered, "claims": []}
    near = distinct("train", plan.near, seed, HARD_NEGATIVES)
    return {"response": [*answered, *near], "claims": school[max(0, len(school) - plan.solved) :]}


def measured(contract: ContractName, split: Split, count: int, seed: int) -> list[Problem]:
    """`count` problems of a split; families that are held out are asked whole, with steps or without."""
    stepped = contract == "claims" and split in ("train", "validation", "test")
    return distinct(split, count, seed, with_steps(MIX) if stepped else None)


def with_steps(mix: Mapping[str, float]) -> dict[str, float]:
    """Claims are about calculations, or about there being nothing to know: the other families without steps go."""
    stepless = knowledge.FAMILIES.keys() - {"unknowable"}
    return {cell: share for cell, share in mix.items() if cell.partition("/")[0] not in stepless}


def _shown(counts: tuple[int, int], first_seed: int) -> Iterator[tuple[Problem, ContractName]]:
    """Graded training problems under both contracts that may be shown worked out."""
    for seed, (contract, count) in enumerate(zip(CONTRACTS, counts, strict=True), first_seed):
        mix = SHOWN if contract == "response" else with_steps(SHOWN)
        for problem in islice(filter(may_be_shown, problems("train", seed, mix)), count):
            yield problem, contract


def _school() -> list[Problem]:
    return [p for p in read_gsm8k(SCHOOL) if split_of(p) == "train"]
