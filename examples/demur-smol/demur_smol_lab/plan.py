"""How much of everything: one plan for the model that ships, and what it costs on a machine."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
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
    before: each problem in so many `wordings`, `times` answers to each; of the warm start's each becomes the first
    attempt of another. `checked` are sampled from the finished model for its critic. `school` are the GSM8K problems in
    the warm start, and those in each draw. What each round teaches is mixed with `worked` answers to further problems,
    which follow the model's own first attempts. Steps take `row_tokens` in the warm start, `round_tokens` after it.

    `outcome` is how much of a confidence target what became of the output itself is; the rest is its estimated chance,
    the mean over wordings where that is `consistent`. `precision` is what the network computes in, by default the
    faster one here; adapters are float32."""

    seed: int = 0
    rank: int = 32
    adapted: int = 22
    row_tokens: int = 24000
    round_tokens: int = 14000
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    warm: tuple[int, int] = (82000, 22000)
    school: tuple[int, int] = (80, 200)
    graded: tuple[int, int] = (600, 4)
    wordings: int = 4
    times: int = 2
    sampled: tuple[int, int] = (2500, 700)
    fresh: tuple[int, int] = (2500, 700)
    last: tuple[int, int] = (2400, 900)
    newest: tuple[int, int] = (2400, 900)
    worked: tuple[int, int] = (4000, 1500)
    checked: tuple[int, int] = (1500, 300)
    measured: tuple[int, int] = (1000, 300)
    outcome: float = 0.5
    consistent: bool = True
    warm_rate: float = 2.5e-3
    empirical_rate: float = 2e-3
    brier_rate: float = 2e-3
    outcome_rate: float = 1.5e-3
    finish_rate: float = 1e-3
    batch: int = 3072
    limits: tuple[int, int] = (160, 320)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The plan a run was begun with."""
        return cls.of(json.loads(path.read_text()))

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Self:
        """A plan out of its JSON form; what another version of the pipeline planned besides is left out."""
        known = {field.name for field in fields(cls)}
        chosen: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in kept.items() if k in known}
        return cls(**chosen)


ON_A_CPU = 128
"""Sequences that a CPU draws at once: more take their memory and are no faster."""
RESPONSE_TOKENS, CLAIMS_TOKENS, QUESTION_TOKENS = 24, 95, 28
"""Means over the problems: of an answer under each contract, of a question with its frame."""
TRIED = 15, 33
"""What a first attempt before the answer adds to it, under each contract."""


def token_counts(plan: Plan) -> Mapping[str, tuple[int, int]]:
    """Tokens each stage will (train on, generate), about."""
    times = plan.wordings * plan.times
    draws = plan.sampled, plan.fresh, plan.last, plan.newest
    written = [_answers(counts, times, tried=number > 0) for number, counts in enumerate(draws)]
    asked = [plan.wordings * _questions(counts) for counts in draws]
    worked = _answers(plan.worked, tried=True)
    shown = worked + _questions(plan.worked)
    first, fresh, last, newest = (tokens + questions + shown for tokens, questions in zip(written, asked, strict=True))
    return {
        "warm-start": (_answers(plan.warm) + _questions(plan.warm), 0),
        "samples": (0, _answers((plan.graded[0], 0), plan.graded[1]) + written[0]),
        "empirical": (first, _answers(plan.worked)),
        "brier": (fresh, written[1] + worked),
        "outcome": (last, written[2] + worked),
        "finish": (newest, written[3] + worked),
        "critic": (_answers(plan.checked, tried=True) // 2, _answers(plan.checked, tried=True)),
        "measured": (0, 4 * _answers(plan.measured, tried=True)),
    }


def _answers(problems: tuple[int, int], times: int = 1, *, tried: bool = False) -> int:
    more = TRIED if tried else (0, 0)
    return times * (problems[0] * (RESPONSE_TOKENS + more[0]) + problems[1] * (CLAIMS_TOKENS + more[1]))


def _questions(problems: tuple[int, int]) -> int:
    return QUESTION_TOKENS * sum(problems)


def speed(model: Llama, batch: int) -> tuple[float, float]:
    """Tokens a second, (training, generating), measured here and now with made-up tokens. Takes some seconds."""
    on_gpu = model.device.type == "cuda"
    prefix, question, answer = list(range(10, 80)), list(range(100, 124)), list(range(200, 220))
    branches = 300 if on_gpu else 16
    row = pack(prefix, [Branch(question, [Response(answer, [1.0] * len(answer))]) for _ in range(branches)])
    imitation(model, row)[0].backward()  # the first one pays for setting up
    began = time.monotonic()
    imitation(model, row)[0].backward()
    model.zero_grad()
    trained = row.ids.shape[1] / (time.monotonic() - began)
    batch = batch if on_gpu else min(batch, ON_A_CPU)
    began = time.monotonic()
    drawn = sample(model, prefix, [question] * (batch // 2), samples=2, limit=20, end=-1, seed=0, batch=batch)
    count = sum(len(one.ids) for one in drawn)
    return trained, count / (time.monotonic() - began)


def minutes(plan: Plan, model: Llama, until: Stage = "measured") -> Mapping[str, float]:
    """How long each stage up to `until` will take on this machine as busy as it is now."""
    torch.manual_seed(plan.seed)
    trained, generated = speed(model, plan.batch)
    costs = {name: (a / trained + b / generated) / 60 for name, (a, b) in token_counts(plan).items()}
    names = list(costs)
    return {name: costs[name] for name in names[: names.index(until) + 1]}
