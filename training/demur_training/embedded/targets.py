"""Stages 3 and 4: samples -> rows that teach what the confidence should have been.

Stage 3 writes the chance of each output into it and imitates that. Stage 4 goes on with fresh outputs of the model as
it is by then, and lets what became of them pull through the exact expected Brier score.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from demur.core.answers import Contract
from demur_training.embedded.chances import Chances
from demur_training.embedded.losses import Stated
from demur_training.embedded.packing import Branch, Response, Row, batches, pack
from demur_training.embedded.sampling import Sample
from demur_training.embedded.texts import written
from demur_training.embedded.tokens import Prompts, Vocabulary

OUTCOME = 0.5
"""How much of a target is the outcome itself; the rest is its estimated chance, which has the same mean and none of the
luck."""
HELD = 0.1
"""Loss weight of an output's own words, of the right ones: enough to keep them where they are."""


def empirical_rows(
    chances: Sequence[Chances], vocabulary: Vocabulary, *, tokens: int, seed: int
) -> list[Callable[[], Row]]:
    """Rows that imitate each output with its confidences replaced by its chances."""

    def response(one: Chances) -> Response:
        ids = _restated(one, vocabulary)
        digits = _digits(ids, vocabulary)
        held = _held(one.sample, ids, vocabulary)
        return Response(ids, [1.0 if i in digits else held[i] for i in range(len(ids))])

    return _rows([(one.sample, response(one)) for one in chances], vocabulary, tokens, seed)


def brier_rows(
    chances: Sequence[Chances], vocabulary: Vocabulary, *, tokens: int, seed: int
) -> list[Callable[[], Row]]:
    """Rows of the outputs as they were, each with what truly became of it, softened by its chance."""

    def response(one: Chances) -> Response:
        ids = [*one.sample.ids, vocabulary.end]
        targets = [_blend(*pair) for pair in zip(one.outcomes, one.stated, strict=True)]
        whole = _blend(float(one.sample.graded.valid), one.whole) if one.claims else None
        note = Stated(tuple(vocabulary.confidences(ids)), tuple(targets), whole)
        digits = _digits(ids, vocabulary)
        held = _held(one.sample, ids, vocabulary)
        return Response(ids, [0.0 if i in digits else held[i] for i in range(len(ids))], note)

    return _rows([(one.sample, response(one)) for one in chances], vocabulary, tokens, seed)


def binary_rows(
    samples: Sequence[Sample], vocabulary: Vocabulary, *, tokens: int, seed: int
) -> list[Callable[[], Row]]:
    """The baseline: a reward of 1 for a right answer and 0 otherwise, whose policy gradient imitates the right answers
    as they were drawn, meaningless confidences included."""

    def response(sample: Sample) -> Response:
        ids = [*sample.ids, vocabulary.end]
        return Response(ids, [1.0] * len(ids))

    return _rows([(s, response(s)) for s in samples if s.graded.valid], vocabulary, tokens, seed)


def _blend(outcome: float, chance: float) -> float:
    return OUTCOME * outcome + (1 - OUTCOME) * chance


def _restated(one: Chances, vocabulary: Vocabulary) -> list[int]:
    ids = [*one.sample.ids, vocabulary.end]
    for place, goal in zip(vocabulary.confidences(ids), one.stated, strict=True):
        tenth, hundredth = written(goal)[-2:]
        ids[place], ids[place + 1] = vocabulary.digits[int(tenth)], vocabulary.digits[int(hundredth)]
    return ids


def _digits(ids: Sequence[int], vocabulary: Vocabulary) -> set[int]:
    return {i + k for i in vocabulary.confidences(ids) for k in (0, 1)}


def _held(sample: Sample, ids: Sequence[int], vocabulary: Vocabulary) -> list[float]:
    """Loss weights that hold the form: 1 for the words around each confidence and the end, little for the rest of a
    right output, nothing for that of a wrong one."""
    frame = {len(ids) - 1}
    for place in vocabulary.confidences(ids):
        frame |= {*range(place - 5, place), place + 2}
    return [1.0 if i in frame else HELD * sample.graded.valid for i in range(len(ids))]


def _rows(
    made: Sequence[tuple[Sample, Response]], vocabulary: Vocabulary, tokens: int, seed: int
) -> list[Callable[[], Row]]:
    """Packed rows, one contract each, the outputs of a problem under one question, in mixed order."""
    rng = random.Random(seed)
    packed: list[Callable[[], Row]] = []
    contracts: tuple[Contract, ...] = ("response", "claims")
    for contract in contracts:
        prompts = Prompts(vocabulary, contract)
        asked: dict[str, list[Response]] = defaultdict(list)
        for sample, response in made:
            if sample.contract == contract:
                asked[sample.problem.question].append(response)
        branches = [Branch(prompts.rest(question), responses) for question, responses in asked.items()]
        rng.shuffle(branches)
        packed += [partial(pack, prompts.prefix, row) for row in batches(branches, tokens - len(prompts.prefix))]
    rng.shuffle(packed)
    return packed
