"""Stages 3 to 5: samples -> rows that teach what the confidence should have been.

Stage 3 writes the model's own measured success into its outputs, problem by problem, and imitates them. Stage 4 lets
each output's own outcome pull, through the exact expected Brier score. Both hold the words around the confidence only,
so that it moves fast, and let some outputs out of the form. Stage 5 goes on with stage 4 but holds every token: the
samples are the model's own, so imitating all of them changes nothing but what was pulled out of shape.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from demur.core.answers import Contract
from demur_training.embedded.losses import Stated
from demur_training.embedded.packing import Branch, Response, Row, batches, pack
from demur_training.embedded.sampling import Sample
from demur_training.embedded.texts import written
from demur_training.embedded.tokens import Prompts, Vocabulary

PRIOR = 4.0
"""How many samples the success of a problem's whole cell counts for, beside the problem's own."""
ANCHOR = 0.3
DIGIT = 1.0


def empirical_rows(
    samples: Sequence[Sample], vocabulary: Vocabulary, *, tokens: int, seed: int, each: int = 4
) -> list[Callable[[], Row]]:
    """Rows that imitate up to `each` outputs of a problem with their confidences replaced by measured success."""
    success = problem_success(samples)

    def response(sample: Sample) -> Response:
        goals = [success[key] for key in _keys(sample)]
        ids = _restated(sample, goals, vocabulary)
        places = {i + k for i in vocabulary.confidences(ids) for k in (0, 1)}
        rest = 1.0 if sample.graded.valid else ANCHOR
        frame = _frame(ids, vocabulary)
        return Response(ids, [DIGIT if i in places else rest * (i in frame) for i in range(len(ids))])

    return _rows(samples, vocabulary, response, tokens, seed, each)


def brier_rows(
    samples: Sequence[Sample],
    vocabulary: Vocabulary,
    *,
    tokens: int,
    seed: int,
    each: int = 8,
    whole: bool = False,
) -> list[Callable[[], Row]]:
    """Rows of up to `each` outputs of a problem as they were, each with what truly became of it; `whole` holds every
    token instead of the frame alone."""

    def response(sample: Sample) -> Response:
        ids = [*sample.ids, vocabulary.end]
        places = vocabulary.confidences(ids)
        digits = {i + k for i in places for k in (0, 1)}
        claims = [float(right) for _, right in sample.graded.claims]
        targets = claims or [float(sample.graded.valid)]
        note = Stated(tuple(places), tuple(targets), float(sample.graded.valid) if claims else None)
        rest = (1.0 if sample.graded.valid else ANCHOR) if whole else 0.0
        frame = _frame(ids, vocabulary)
        weights = [0.0 if i in digits else 1.0 if i in frame else rest for i in range(len(ids))]
        return Response(ids, weights, note)

    return _rows(samples, vocabulary, response, tokens, seed, each)


Key = tuple[Contract, int, int]
"""A contract, a problem of its file, and a claim of its solution (-1: the whole answer)."""


def binary_rows(
    samples: Sequence[Sample], vocabulary: Vocabulary, *, tokens: int, seed: int, each: int = 8
) -> list[Callable[[], Row]]:
    """The baseline: a reward of 1 for a right answer and 0 otherwise, whose policy gradient imitates the right answers
    as they were drawn, meaningless confidences included."""

    def response(sample: Sample) -> Response:
        ids = [*sample.ids, vocabulary.end]
        return Response(ids, [1.0] * len(ids))

    right = [sample for sample in samples if sample.graded.valid]
    return _rows(right, vocabulary, response, tokens, seed, each)


def problem_success(samples: Sequence[Sample]) -> dict[Key, float]:
    """Measured chance of each problem, and of each claim of it, to be right: (k + 4 q) / (n + 4), where q is the same
    over the problem's whole family and size."""
    own: dict[Key, list[bool]] = defaultdict(list)
    cell: dict[tuple[Contract, str, int], list[bool]] = defaultdict(list)
    cell_of: dict[Key, tuple[Contract, str, int]] = {}
    for sample in _well_formed(samples):
        for claim, right in [(-1, sample.graded.valid), *enumerate(ok for _, ok in sample.graded.claims)]:
            key = (sample.contract, sample.problem_id, claim)
            cell_of[key] = (sample.contract, sample.problem.cell, claim)
            own[key].append(right)
            cell[cell_of[key]].append(right)
    return {key: (sum(right) + PRIOR * _mean(cell[cell_of[key]])) / (len(right) + PRIOR) for key, right in own.items()}


def _keys(sample: Sample) -> list[Key]:
    """Which successes the confidences of an output stand for: of its claims, or of the whole."""
    claims = range(len(sample.graded.claims)) or (-1,)
    return [(sample.contract, sample.problem_id, i) for i in claims]


def _restated(sample: Sample, goals: Sequence[float], vocabulary: Vocabulary) -> list[int]:
    ids = [*sample.ids, vocabulary.end]
    for place, goal in zip(vocabulary.confidences(ids), goals, strict=True):
        tenth, hundredth = written(goal)[-2:]
        ids[place], ids[place + 1] = vocabulary.digits[int(tenth)], vocabulary.digits[int(hundredth)]
    return ids


def _frame(ids: Sequence[int], vocabulary: Vocabulary) -> set[int]:
    """Where the words around each confidence stand, and the end token: what must not fall apart."""
    frame = {len(ids) - 1}
    for place in vocabulary.confidences(ids):
        frame |= {*range(place - 5, place), place + 2}
    return frame


def _rows(
    samples: Sequence[Sample],
    vocabulary: Vocabulary,
    response: Callable[[Sample], Response],
    tokens: int,
    seed: int,
    each: int,
) -> list[Callable[[], Row]]:
    rng = random.Random(seed)
    packed: list[Callable[[], Row]] = []
    contracts: tuple[Contract, ...] = ("response", "claims")
    for contract in contracts:
        prompts = Prompts(vocabulary, contract)
        branches = _branches(samples, contract, vocabulary, prompts, response, each, rng)
        held = batches(branches, tokens - len(prompts.prefix))
        packed += [partial(pack, prompts.prefix, row) for row in held]
    rng.shuffle(packed)
    return packed


def _branches(
    samples: Sequence[Sample],
    contract: Contract,
    vocabulary: Vocabulary,
    prompts: Prompts,
    response: Callable[[Sample], Response],
    each: int,
    rng: random.Random,
) -> list[Branch]:
    by_problem: dict[int, list[Sample]] = defaultdict(list)
    for sample in _well_formed(samples):
        if sample.contract == contract and len(vocabulary.confidences(sample.ids)) == len(_keys(sample)):
            by_problem[sample.problem_id].append(sample)
    branches = [
        Branch(prompts.rest(group[0].problem.question), [response(s) for s in rng.sample(group, min(each, len(group)))])
        for group in by_problem.values()
    ]
    rng.shuffle(branches)
    return branches


def _well_formed(samples: Sequence[Sample]) -> list[Sample]:
    return [s for s in samples if not s.graded.violation]


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values)
