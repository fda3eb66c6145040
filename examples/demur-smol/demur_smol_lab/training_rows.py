"""Samples -> rows that teach what the confidence should have been.

Each is an answer after a first attempt. `empirical` writes the confidence target of each output into it and imitates
that. The stages after it let what became of outputs of the model as it is by then pull through the exact expected Brier
score, alone: beside imitated targets the single outcome counts for little, and only that tells right from wrong within
one family and size. All hold the form and the words of right outputs: as the samples are the model's own, imitating
them changes little but what was pulled out of shape."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from demur.core.answers import ContractName
from demur_smol_lab import first_attempts
from demur_smol_lab.confidence_targets import ConfidenceTargets
from demur_smol_lab.losses import Stated
from demur_smol_lab.packing import Branch, LazyRow, Response, batches, pack
from demur_smol_lab.sampling import Sample
from demur_smol_lab.tokens import Prompts, Vocabulary
from demur_smol_lab.worked_answers import written

WRONG, RESTATED = 0.05, 0.5
"""Loss weights of the words of a wrong answer, and of the solution, which says the working once more."""


@dataclass(frozen=True, slots=True)
class Hold:
    """How hard words are held while the confidence is pulled: loss weights of those of a right answer, of a first
    attempt that a right answer confirms, and of another; whether the form has weights of its own (1 for what stands
    around each confidence and for the end, RESTATED for the solution) or those of its answer; and the weight of all
    beside the score."""

    right: float
    confirmed: float
    tried: float
    form: bool
    anchor: float


LOOSE, FIRM = Hold(1.0, 0.3, 0.3, form=False, anchor=1.0), Hold(3.0, 3.0, 0.1, form=True, anchor=2.0)
"""While confidences have far to go they get more of each step. Then right words are what to keep: held loosely they go
on giving way, and so do the tags of wrong claims, which nothing else holds."""


def empirical_rows(
    targets: Sequence[ConfidenceTargets], vocabulary: Vocabulary, *, tokens: int, seed: int
) -> list[LazyRow]:
    """Rows that imitate each output with its confidences replaced by its targets, its words held loosely."""

    def response(one: ConfidenceTargets) -> Response:
        ids = _restated(one, vocabulary)
        digits = _digits(ids, vocabulary)
        weights = _held(one.sample, ids, vocabulary, LOOSE)
        return Response(ids, [LOOSE.right if i in digits else weights[i] for i in range(len(ids))])

    return _rows([(one.sample, response(one)) for one in targets], vocabulary, tokens, seed)


def scored_rows(
    targets: Sequence[ConfidenceTargets],
    vocabulary: Vocabulary,
    hold: Hold,
    *,
    outcome: float,
    tokens: int,
    seed: int,
) -> list[LazyRow]:
    """Rows that imitate each output but for its confidences, and carry what became of it for the score, which alone
    moves the confidences: `outcome` of the target is what became of it itself, the rest its estimated chance, which has
    the same mean and less of the luck."""

    def response(one: ConfidenceTargets) -> Response:
        ids = _restated(one, vocabulary)
        return Response(ids, _words(one.sample, ids, vocabulary, hold), _stated(one, ids, vocabulary, outcome))

    return _rows([(one.sample, response(one)) for one in targets], vocabulary, tokens, seed)


def _stated(one: ConfidenceTargets, ids: Sequence[int], vocabulary: Vocabulary, share: float) -> Stated:
    targets = [_softened(*pair, share) for pair in zip(one.outcomes, one.stated, strict=True)]
    minimum = _softened(float(one.sample.graded.valid), one.whole, share) if one.claims else None
    return Stated(tuple(vocabulary.confidences(ids)), tuple(targets), minimum)


def _softened(outcome: float, chance: float, share: float) -> float:
    return share * outcome + (1 - share) * chance


def _restated(one: ConfidenceTargets, vocabulary: Vocabulary) -> list[int]:
    ids = [*one.sample.ids, vocabulary.end]
    for place, goal in zip(vocabulary.confidences(ids), one.stated, strict=True):
        tenth, hundredth = written(goal)[-2:]
        ids[place], ids[place + 1] = vocabulary.digits[int(tenth)], vocabulary.digits[int(hundredth)]
    return ids


def _digits(ids: Sequence[int], vocabulary: Vocabulary) -> set[int]:
    return {i + k for i in vocabulary.confidences(ids) for k in (0, 1)}


def _held(sample: Sample, ids: Sequence[int], vocabulary: Vocabulary, hold: Hold) -> list[float]:
    """Loss weights that hold what was right, and the form."""
    frame = {len(ids) - 1}
    for place in vocabulary.confidences(ids):
        frame |= {*range(place - 5, place), place + 2}
    lines, valid = vocabulary.lines(ids), sample.graded.valid
    tried = hold.confirmed if valid and first_attempts.agreement(sample)[0] else hold.tried
    tries, solved = first_attempts.count_lines(sample), first_attempts.count_working(sample)

    def words(line: int) -> float:
        if line < tries:
            return tried
        if hold.form and line >= solved:
            return RESTATED
        return hold.right if valid else WRONG

    return [1.0 if hold.form and i in frame else words(lines[i]) for i in range(len(ids))]


def _words(sample: Sample, ids: Sequence[int], vocabulary: Vocabulary, hold: Hold) -> list[float]:
    """The same weights, and none on the confidences."""
    digits, held = _digits(ids, vocabulary), _held(sample, ids, vocabulary, hold)
    return [0.0 if i in digits else held[i] for i in range(len(ids))]


def _rows(made: Sequence[tuple[Sample, Response]], vocabulary: Vocabulary, tokens: int, seed: int) -> list[LazyRow]:
    """Packed rows, one contract each, the outputs of a problem under one question, in mixed order."""
    rng = random.Random(seed)
    packed: list[LazyRow] = []
    contracts: tuple[ContractName, ...] = ("response", "claims")
    for contract in contracts:
        prompts = Prompts(vocabulary, contract)
        asked: dict[str, list[Response]] = defaultdict(list)
        for sample, response in made:
            if sample.contract == contract:
                asked[sample.problem.question].append(response)
        branches = [
            Branch(rest, responses) for rest, responses in zip(prompts.rests(list(asked)), asked.values(), strict=True)
        ]
        rng.shuffle(branches)
        packed += [partial(pack, prompts.prefix, row) for row in batches(branches, tokens - len(prompts.prefix))]
    rng.shuffle(packed)
    return packed
