"""How much of everything: one plan for the model that ships, and what it costs on this machine."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import torch

from demur_smol_lab import Stage
from demur_smol_lab.decoding import sample
from demur_smol_lab.llama import Llama
from demur_smol_lab.losses import imitation
from demur_smol_lab.packing import Branch, Response, pack


@dataclass(frozen=True, slots=True)
class Plan:
    """Counts are problems, in pairs for the response and the claims contract. `limits` are the tokens an answer may
    take, several times what the warm start shows. `adapted` are the layers, from the top, that get an adapter.

    `graded` are problems under the response contract and the samples of each: they say how hard the problems are.
    `sampled` are from the warm start, `fresh`, `last` and `newest` each from the model that has learned from those
    before, and `blended` from the adapter average, `times` answers to each problem: a right and a wrong one beside each
    other show best what tells them apart, and of the warm start's each becomes the first attempt of the other.
    `checked` are sampled from the finished model for its critic. `unfamiliar` others join each of the five draws, and
    so do GSM8K problems: `school` are those in the warm start, and those in each draw, of which the fourth gets what is
    left and the fifth some of before again. `near` hard negatives and `solved` more GSM8K problems, in claims, join the
    fifth. What each of the five teaches is mixed with `worked` answers to further problems, which follow the model's
    own first attempts. `twin_share` is how much of what the binary-reward baseline learned is added to the mean of the
    last two adapters of the four rounds it runs beside. `doubted` is what `measured` is under the claims contract for
    the finished model, whose reasons for doubt are read. `precision` is what the network computes in, by default the
    faster one here; adapters are float32."""

    seed: int = 0
    rank: int = 32
    adapted: int = 22
    row_tokens: int = 850
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    warm: tuple[int, int] = (3300, 750)
    school: tuple[int, int] = (80, 200)
    graded: tuple[int, int] = (300, 4)
    times: int = 2
    sampled: tuple[int, int] = (2400, 350)
    fresh: tuple[int, int] = (2000, 300)
    last: tuple[int, int] = (2400, 400)
    newest: tuple[int, int] = (1200, 250)
    blended: tuple[int, int] = (1200, 250)
    unfamiliar: int = 400
    near: int = 300
    solved: int = 250
    worked: tuple[int, int] = (300, 280)
    checked: tuple[int, int] = (1500, 500)
    measured: tuple[int, int] = (1000, 300)
    doubted: int = 1500
    warm_rate: float = 1e-3
    empirical_rate: float = 4e-4
    brier_rate: float = 4e-4
    outcome_rate: float = 4e-4
    settle_rate: float = 2e-4
    finish_rate: float = 2e-4
    twin_share: float = 0.5
    batch: int = 128
    limits: tuple[int, int] = (160, 320)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The plan a run was begun with."""
        return cls.of(json.loads(path.read_text()))

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Self:
        """A plan out of its JSON form."""
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in kept.items()}
        return cls(**fields)


RESPONSE_TOKENS, CLAIMS_TOKENS, QUESTION_TOKENS = 20, 95, 24
"""Means over the graded problems: of an answer under each contract, of a question with its frame."""
TRIED = 15, 33
"""What a first attempt before the answer adds to it, under each contract."""


def token_counts(plan: Plan) -> Mapping[str, tuple[int, int]]:
    """Tokens each stage will (train on, generate), about."""
    graded, more = (plan.graded[0], 0), (plan.school[1] + plan.unfamiliar, 0)
    last_more = more[0] + plan.near, plan.solved

    draws = plan.sampled, plan.fresh, plan.last, plan.newest, plan.blended
    joining = more, more, more, more, last_more
    written = [
        _answers(counts, plan.times, tried=True) + _answers(m, tried=True)
        for counts, m in zip(draws, joining, strict=True)
    ]
    worked = _answers(plan.worked, tried=True)
    first, fresh, last, newest, blended = (
        tokens + _questions(counts) + _questions(m) + worked + _questions(plan.worked)
        for tokens, counts, m in zip(written, draws, joining, strict=True)
    )
    first += _answers(graded, plan.graded[1], tried=True) + _answers(more, tried=True) + _questions(graded)
    sampled = _answers(plan.sampled, plan.times) + _answers(more, plan.times)
    return {
        "warm-start": (_answers(plan.warm) + _questions(plan.warm), 0),
        "samples": (0, _answers(graded, plan.graded[1]) + sampled),
        "empirical": (first, _answers(plan.worked)),
        "fresh": (0, written[1]),
        "brier": (fresh, worked),
        "last": (0, written[2]),
        "outcome": (last, worked),
        "newest": (0, written[3]),
        "settle": (newest, worked),
        "twin": (first + fresh + last + newest, 0),
        "blend": (0, 0),
        "blended": (0, written[4]),
        "finish": (blended + blended // 3, worked),
        "critic": (_answers(plan.checked, tried=True) // 2, _answers(plan.checked, tried=True)),
        "measured": (0, 2 * _answers(plan.measured) + _answers((plan.measured[0], plan.doubted), tried=True)),
    }


def _answers(problems: tuple[int, int], times: int = 1, *, tried: bool = False) -> int:
    more = TRIED if tried else (0, 0)
    return times * (problems[0] * (RESPONSE_TOKENS + more[0]) + problems[1] * (CLAIMS_TOKENS + more[1]))


def _questions(problems: tuple[int, int]) -> int:
    return QUESTION_TOKENS * sum(problems)


def speed(model: Llama, batch: int) -> tuple[float, float]:
    """Tokens a second, (training, generating), measured here and now with made-up tokens. Takes some seconds."""
    prefix, question, answer = list(range(10, 80)), list(range(100, 124)), list(range(200, 220))
    row = pack(prefix, [Branch(question, [Response(answer, [1.0] * len(answer))]) for _ in range(16)])
    imitation(model, row)[0].backward()  # the first one pays for setting up
    began = time.monotonic()
    imitation(model, row)[0].backward()
    model.zero_grad()
    trained = row.ids.shape[1] / (time.monotonic() - began)
    began = time.monotonic()
    drawn = sample(model, prefix, [question] * (batch // 2), samples=2, limit=20, end=-1, seed=0, batch=batch)
    count = sum(len(one.ids) for one in drawn)
    return trained, count / (time.monotonic() - began)


def minutes(plan: Plan, model: Llama, until: Stage = "measured") -> Mapping[str, float]:
    """How long each stage up to `until`, and each draw before one, will take on this machine as busy as it is now."""
    torch.manual_seed(plan.seed)
    trained, generated = speed(model, plan.batch)
    costs = {name: (a / trained + b / generated) / 60 for name, (a, b) in token_counts(plan).items()}
    names = list(costs)
    return {name: costs[name] for name in names[: names.index(until) + 1]}
