"""How much of everything: one plan for the model that ships, and what it costs on this machine."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import torch

from demur_training.embedded.decoding import sample
from demur_training.embedded.llama import Llama
from demur_training.embedded.losses import imitation
from demur_training.embedded.packing import Branch, Response, pack


@dataclass(frozen=True, slots=True)
class Plan:
    """Counts are problems, in pairs for the response and the claims contract. `limits` are the tokens an answer may
    take, several times what the warm start shows. `adapted` are the layers, from the top, that get an adapter.

    `school` are GSM8K problems, in the warm start and among the sampled ones. `taught` are the samples of each problem
    that stages 3 to 5 learn from. `precision` is what the network computes in; adapters are float32.
    """

    seed: int = 0
    rank: int = 32
    adapted: int = 22
    row_tokens: int = 850
    precision: Literal["float32", "bfloat16"] = "bfloat16"
    warm: tuple[int, int] = (2400, 600)
    school: tuple[int, int] = (80, 40)
    sampled: tuple[int, int] = (600, 200)
    samples: int = 6
    taught: tuple[int, int, int] = (3, 6, 3)
    critic_samples: int = 2
    measured: tuple[int, int] = (1000, 300)
    warm_rate: float = 1e-3
    empirical_rate: float = 3e-4
    brier_rate: float = 3e-4
    settle_rate: float = 2e-4
    batch: int = 128
    limits: tuple[int, int] = (96, 240)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The plan a run was begun with."""
        kept: dict[str, Any] = json.loads(path.read_text())
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in kept.items()}
        return cls(**fields)


RESPONSE_TOKENS, CLAIMS_TOKENS, QUESTION_TOKENS = 20, 95, 24
"""Means over the graded problems: of an answer under each contract, of a question with its frame."""


def token_counts(plan: Plan) -> Mapping[str, tuple[int, int]]:
    """Tokens each stage will (train on, generate), about."""
    drawn = plan.samples * (plan.sampled[0] * RESPONSE_TOKENS + plan.sampled[1] * CLAIMS_TOKENS)
    shared = QUESTION_TOKENS * sum(plan.sampled)
    measured = plan.measured[0] * RESPONSE_TOKENS + plan.measured[1] * CLAIMS_TOKENS
    warm = plan.warm[0] * RESPONSE_TOKENS + plan.warm[1] * CLAIMS_TOKENS + QUESTION_TOKENS * sum(plan.warm)
    return {
        "warm-start": (warm, 0),
        "samples": (0, drawn),
        "empirical": (shared + drawn * plan.taught[0] // plan.samples, 0),
        "brier": (shared + drawn * plan.taught[1] // plan.samples, 0),
        "settle": (shared + drawn * plan.taught[2] // plan.samples, 0),
        "twin": (3 * shared + drawn * sum(plan.taught) // plan.samples, 0),
        "critic": (0, drawn * plan.critic_samples // plan.samples),
        "measured": (0, 3 * measured),
    }


def speed(model: Llama, batch: int) -> tuple[float, float]:
    """Tokens a second, (training, generating), measured here and now with made-up tokens. Takes some seconds."""
    prefix, question, answer = list(range(10, 80)), list(range(100, 124)), list(range(200, 220))
    row = pack(prefix, [Branch(question, [Response(answer, [1.0] * len(answer))]) for _ in range(16)])
    began = time.monotonic()
    imitation(model, row)[0].backward()
    model.zero_grad()
    trained = row.ids.shape[1] / (time.monotonic() - began)
    began = time.monotonic()
    drawn = sample(model, prefix, [question] * batch, samples=1, limit=8, end=-1, seed=0, batch=batch)
    count = sum(len(one.ids) for one in drawn)
    return trained, count / (time.monotonic() - began)


def minutes(plan: Plan, model: Llama) -> Mapping[str, float]:
    """How long each stage will take on this machine as busy as it is now."""
    torch.manual_seed(plan.seed)
    trained, generated = speed(model, plan.batch)
    return {name: (a / trained + b / generated) / 60 for name, (a, b) in token_counts(plan).items()}
