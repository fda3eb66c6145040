"""The curriculum: which training problems a plan shows worked out and which it asks, the same whenever looked up."""

import random
from collections.abc import Iterator, Mapping
from itertools import islice

from demur.core.answers import ContractName
from demur_smol_lab.plan import Plan
from demur_smol_lab.problems import knowledge
from demur_smol_lab.problems.gsm8k import SCHOOL, read_gsm8k
from demur_smol_lab.problems.mix import CHOICE, MIX, SHOWN, TAUGHT, TRANSFER, WIDE, asked, distinct, problems
from demur_smol_lab.problems.problem import Problem
from demur_smol_lab.problems.splits import Measured, Split, may_be_shown, split_of

CONTRACTS: tuple[ContractName, ...] = ("response", "claims")
SOLVED = 4
"""Of the school problems in the warm start every fourth is solved in claims; the others are only answered."""
SHOWN_WIDE: Mapping[str, float] = {**SHOWN, **TAUGHT}

MEASURED: Mapping[Measured, tuple[Split, Mapping[str, float]]] = {
    "validation": ("validation", MIX),
    "choosing": ("choosing", CHOICE),
    "familiar": ("test", MIX),
    "test": ("test", MIX),
    "adjacent": ("test", TAUGHT),
    "transfer": ("transfer", TRANSFER),
}
"""What each table asks. `familiar` asks the test problems in wordings of training, `test` in wordings never seen,
`adjacent` test problems of taught adjacent families in wordings never seen, `transfer` families never seen."""


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


def graded(count: int, seed: int) -> list[Problem]:
    """`count` problems of the graded families that are never shown."""
    return distinct("train", count, seed, MIX, wanted=lambda problem: not may_be_shown(problem))


def posed(count: int, wordings: int, seed: int) -> list[Problem]:
    """`count` problems of all training families, those that are never shown among them, in `wordings` wordings each,
    one after the other."""
    chosen = distinct("train", count, seed, WIDE, wanted=lambda problem: not may_be_shown(problem))
    rng = random.Random(seed)
    return [again for problem in chosen for again in (problem, *(_reworded(problem, rng, wordings - 1)))]


def school(plan: Plan, number: int) -> Mapping[ContractName, list[Problem]]:
    """The school problems of round `number`: other ones each time while there are some, the last round's in claims."""
    shown, count = plan.school
    rest = _school()[shown:]
    start = number * count % max(1, len(rest))
    chosen = (rest + rest)[start : start + count]
    return {"response": chosen, "claims": chosen[: count // SOLVED]}


def measured(table: Measured, contract: ContractName, count: int, seed: int) -> list[Problem]:
    """`count` problems of a table; graded families without steps are not measured under claims."""
    split, mix = MEASURED[table]
    chosen = with_steps(mix) if contract == "claims" and mix is MIX else mix
    return distinct(split, count, seed, chosen, side="train" if table == "familiar" else None)


def tabled(table: Measured, contract: ContractName, count: int, seed: int) -> list[Problem]:
    """Validation problems of a table's kinds, for a baseline that knows how hard each kind is; of families that nothing
    was taught of there are none, and such a table gets those of training's."""
    mix = TAUGHT if MEASURED[table][1] is TAUGHT else MIX
    return distinct("validation", count, seed, with_steps(mix) if contract == "claims" and mix is MIX else mix)


def with_steps(mix: Mapping[str, float]) -> dict[str, float]:
    """The mix without the families of knowledge, but for what nobody knows."""
    stepless = knowledge.FAMILIES.keys() - {"unknowable"}
    return {cell: share for cell, share in mix.items() if cell.partition("/")[0] not in stepless}


def _reworded(problem: Problem, rng: random.Random, times: int) -> list[Problem]:
    return [asked(problem, rng, "train") for _ in range(times)]


def _shown(counts: tuple[int, int], first_seed: int) -> Iterator[tuple[Problem, ContractName]]:
    """Training problems under both contracts that may be shown worked out."""
    for seed, (contract, count) in enumerate(zip(CONTRACTS, counts, strict=True), first_seed):
        for problem in islice(filter(may_be_shown, problems("train", seed, SHOWN_WIDE)), count):
            yield problem, contract


def _school() -> list[Problem]:
    return [p for p in read_gsm8k(SCHOOL) if split_of(p) == "train"]
