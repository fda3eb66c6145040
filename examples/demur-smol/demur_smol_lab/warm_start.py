"""Worked answers: the form of both contracts and the working (stage 1), and some of them among all stages after it."""

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from demur.core.answers import ContractName
from demur_smol_lab.packing import Branch, LazyRow, Response, batches, pack
from demur_smol_lab.problems.problem import Problem
from demur_smol_lab.tokens import Prompts, Vocabulary
from demur_smol_lab.worked_answers import claims_text, count_claims, response_text

CONFIDENCE_WEIGHT = 0.3
"""Loss weight of a digit of a random confidence, so that they stay spread out but teach little else."""


def rows(
    problems: Iterable[tuple[Problem, ContractName]],
    vocabulary: Vocabulary,
    *,
    tokens: int,
    seed: int,
    confidence_weight: float = CONFIDENCE_WEIGHT,
    attempts: Mapping[tuple[ContractName, str], str] | None = None,
) -> list[LazyRow]:
    """Packed rows of about `tokens` tokens, one contract each, in mixed order. A model that states confidences already
    gets `confidence_weight` 0. `attempts` are its first attempts at some of the questions, put before the worked answer
    and left out of the loss."""
    rng = random.Random(seed)
    prompts: dict[ContractName, Prompts] = {c: Prompts(vocabulary, c) for c in ("response", "claims")}
    branches: dict[ContractName, list[Branch]] = {"response": [], "claims": []}
    chosen = list(problems)
    answers = vocabulary.encode_all([_text(problem, contract, rng) for problem, contract in chosen])
    tried = [(attempts or {}).get((contract, problem.question), "") for problem, contract in chosen]
    questions = {
        contract: iter(prompts[contract].rests([p.question for p, other in chosen if other == contract]))
        for contract in prompts
    }
    for (_, contract), ids, attempt in zip(chosen, answers, tried, strict=True):
        attempted = vocabulary.encode(attempt) if attempt else []
        answer = weighed(vocabulary, ids, confidence_weight)
        response = Response([*attempted, *answer.ids], [*[0.0] * len(attempted), *answer.weights])
        branches[contract].append(Branch(next(questions[contract]), [response]))
    packed = [
        partial(pack, prompts[contract].prefix, held)
        for contract, made in branches.items()
        for held in batches(made, tokens - len(prompts[contract].prefix))
    ]
    rng.shuffle(packed)
    return packed


def weighed(vocabulary: Vocabulary, text: Sequence[int], confidence_weight: float, other: float = 1.0) -> Response:
    """The text's tokens and the end token, confidence digits with a weight of their own."""
    ids = [*text, vocabulary.end]
    places = {i + k for i in vocabulary.confidences(ids) for k in (0, 1)}
    return Response(ids, [confidence_weight if i in places else other for i in range(len(ids))])


def _text(problem: Problem, contract: ContractName, rng: random.Random) -> str:
    if contract == "claims":
        return claims_text(problem, _random(rng, count_claims(problem)), rng)
    return response_text(problem, rng.random())


def _random(rng: random.Random, count: int) -> Sequence[float]:
    return [rng.random() for _ in range(count)]
