"""A value head for the finished model: the linear function of its state that best predicts success, at every position.

Fitted like the critic of a PPO run, by squared error to the return of 0 or 1 that the output came to (Monte Carlo), but
in closed form and on the generator's own frozen trunk: a few kilobytes that turn the generator's weights into a token
classifier. All positions of an output together count as much as the one before the end token, where the whole answer
and the stated confidence have been seen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from demur.core.answers import ContractName
from demur_smol_lab.llama import Llama
from demur_smol_lab.packing import Branch, Response, batches, pack
from demur_smol_lab.sampling import Sample
from demur_smol_lab.tokens import Prompts, Vocabulary

ROW_TOKENS = {"cpu": 850, "cuda": 16000}
RIDGE = 0.01
"""Strength of the penalty on the weights, relative to the mean variance of a feature."""
BEFORE_END = 0.5
"""The share of an output's weight in the fit that the position before its end has; all its positions share the rest."""


PLACES = 0.0, 0.25, 0.5, 0.75, 1.0
"""Where along an output its values are looked at, as shares of its tokens: before the first of them ... at the last."""
OVER = 4
"""The web page shows the mean of the values at a token and at those before it, this many at most."""


@dataclass(frozen=True, slots=True)
class Course:
    """The critic's values over one output: those at PLACES, what the page shows there, the mean distance from one
    token's to the next one's, and the share of all that are exactly 0 or 1."""

    places: list[float]
    shown: list[float]
    step: float
    clipped: float


@torch.inference_mode()
def states(model: Llama, vocabulary: Vocabulary, samples: Sequence[Sample]) -> Iterator[tuple[int, Tensor]]:
    """The number of each sample and its hidden states [tokens + 1, width]: at the position before its first token, then
    at every token it has drawn. Not in order."""
    contracts: set[ContractName] = {sample.contract for sample in samples}
    for contract in sorted(contracts):
        chosen = [i for i, sample in enumerate(samples) if sample.contract == contract]
        prompts = Prompts(vocabulary, contract)
        branches = [_branch(samples[i], prompts, vocabulary.end, i) for i in chosen]
        for held in batches(branches, ROW_TOKENS[model.device.type]):
            row = pack(prompts.prefix, held).to(model.device)
            hidden = model.hidden(row.ids, row.positions, row.masks)[0]
            for (start, end, before), response in zip(row.spans, row.responses, strict=True):
                yield response.note, torch.cat((hidden[before : before + 1], hidden[start : end - 1]))


def fit(model: Llama, vocabulary: Vocabulary, samples: Sequence[Sample]) -> tuple[Tensor, Tensor]:
    """Weight [1, width] and bias [1] fitted on what became of samples."""
    found = Regression(model.embedding.shape[1])
    for number, seen in states(model, vocabulary, samples):
        weights = torch.full((len(seen),), (1 - BEFORE_END) / len(seen), dtype=torch.float64)
        weights[-1] += BEFORE_END
        found.add(seen.double().cpu(), float(samples[number].graded.valid), weights)
    return found.solve()


class Regression:
    """Weighted ridge regression from sums, so that no state needs to be kept."""

    def __init__(self, width: int) -> None:
        self.weight, self.mean = 0.0, 0.0
        self.middle, self.along = torch.zeros(2, width, dtype=torch.float64)
        self.squares = torch.zeros(width, width, dtype=torch.float64)

    def add(self, seen: Tensor, outcome: float, weights: Tensor) -> None:
        """States [positions, width] that all came to `outcome`, with their weights."""
        weighted = seen * weights[:, None]
        self.weight += float(weights.sum())
        self.mean += outcome * float(weights.sum())
        self.middle += weighted.sum(0)
        self.along += outcome * weighted.sum(0)
        self.squares += weighted.T @ seen

    def solve(self) -> tuple[Tensor, Tensor]:
        """Weight [1, width] and bias [1]."""
        middle, mean = self.middle / self.weight, self.mean / self.weight
        covariance = self.squares / self.weight - middle[:, None] * middle
        penalty = RIDGE * covariance.trace() / len(covariance) * torch.eye(len(covariance), dtype=torch.float64)
        weight = torch.linalg.solve(covariance + penalty, self.along / self.weight - mean * middle)
        return weight[None].float(), (mean - middle @ weight)[None].float()


def values(states: Tensor, weight: Tensor, bias: Tensor) -> list[float]:
    """The critic's probability of success for each state, kept within [0, 1]."""
    return (states @ weight[0] + bias).clamp(0, 1).tolist()


def course(values: Sequence[float]) -> Course:
    """Of an output with these values [tokens + 1], the last of which is its confidence."""
    last = len(values) - 1
    steps = [abs(after - before) for before, after in pairwise(values)]
    clipped = sum(value in (0.0, 1.0) for value in values) / len(values)
    at = [round(place * last) for place in PLACES]
    step = sum(steps) / max(1, last)
    return Course([values[one] for one in at], [shown(values, one) for one in at], step, clipped)


def shown(values: Sequence[float], at: int) -> float:
    """What the page shows at a place of an output with these values [tokens + 1]: the mean over up to OVER tokens. The
    value before the first token is no token's and stands for itself."""
    if at == 0:
        return values[0]
    held = values[max(1, at + 1 - OVER) : at + 1]
    return sum(held) / len(held)


def _branch(sample: Sample, prompts: Prompts, end: int, index: int) -> Branch:
    ids = [*sample.ids, end]
    return Branch(prompts.rest(sample.problem.question), [Response(ids, [0.0] * len(ids), index)])
