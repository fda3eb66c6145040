"""A value head for the finished model: the linear function of its last state that best predicts success.

Fitted like the critic of a PPO run, by squared error to a return of 0 or 1, but in closed form and on the generator's
own frozen trunk: a few kilobytes that turn the generator's weights into a token classifier. It reads the position
before the end token, where the whole answer and the stated confidence have been seen.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from demur.core.answers import ContractName
from demur_smol_lab.llama import Llama
from demur_smol_lab.packing import Branch, Response, batches, pack
from demur_smol_lab.sampling import Sample
from demur_smol_lab.tokens import Prompts, Vocabulary

ROW_TOKENS = 850
RIDGE = 0.01
"""Strength of the penalty on the weights, relative to the mean variance of a feature."""


@torch.inference_mode()
def last_states(model: Llama, vocabulary: Vocabulary, samples: Sequence[Sample]) -> Tensor:
    """Hidden states [samples, width] at the position before the end token, in the order of `samples`."""
    states = torch.empty(len(samples), model.embedding.shape[1])
    contracts: set[ContractName] = {sample.contract for sample in samples}
    for contract in sorted(contracts):
        chosen = [i for i, sample in enumerate(samples) if sample.contract == contract]
        prompts = Prompts(vocabulary, contract)
        branches = [_branch(samples[i], prompts, vocabulary.end, i) for i in chosen]
        for held in batches(branches, ROW_TOKENS):
            row = pack(prompts.prefix, held)
            hidden = model.hidden(row.ids, row.positions, row.masks)[0]
            for (start, end, before), response in zip(row.spans, row.responses, strict=True):
                states[response.note] = hidden[end - 2 if end - start > 1 else before]
    return states


def fit(states: Tensor, valid: Sequence[bool]) -> tuple[Tensor, Tensor]:
    """Weight [1, width] and bias [1] by ridge regression of success on the states."""
    x, y = states.double(), torch.tensor(valid, dtype=torch.float64)
    middle, mean = x.mean(0), y.mean()
    centred = x - middle
    covariance = centred.T @ centred
    penalty = RIDGE * covariance.trace() / len(covariance) * torch.eye(len(covariance), dtype=torch.float64)
    weight = torch.linalg.solve(covariance + penalty, centred.T @ (y - mean))
    return weight[None].float(), (mean - middle @ weight)[None].float()


def values(states: Tensor, weight: Tensor, bias: Tensor) -> list[float]:
    """The critic's probability of success for each state, kept within [0, 1]."""
    return (states @ weight[0] + bias).clamp(0, 1).tolist()


def _branch(sample: Sample, prompts: Prompts, end: int, index: int) -> Branch:
    ids = [*sample.ids, end]
    return Branch(prompts.rest(sample.problem.question), [Response(ids, [0.0] * len(ids), index)])
