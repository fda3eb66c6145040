"""Many short examples in one row: the instructions once, every question once, its responses beside each other.

A row is a tree. A question sees the instructions, a response sees the instructions and its own question; the rest is
kept apart, and positions count along the branch, so each response gets the very log-probabilities that it would get
alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Response:
    """Token ids with one loss weight each, and what else a loss wants to know (`note`)."""

    ids: Sequence[int]
    weights: Sequence[float]
    note: Any = None


@dataclass(frozen=True, slots=True)
class Branch:
    """One question (its tokens after the shared instructions) and the responses to learn from."""

    question: Sequence[int]
    responses: Sequence[Response]

    @property
    def length(self) -> int:
        return len(self.question) + sum(len(r.ids) for r in self.responses)


@dataclass(slots=True)
class PackedRow:
    """One packed row. `masks` say what the instructions see of themselves, and each branch of the instructions and of
    itself. `spans` are [start, end) of each response and the position that predicts its first token."""

    ids: Tensor
    positions: Tensor
    masks: list[Tensor]
    spans: list[tuple[int, int, int]] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)

    def predictors(self) -> Tensor:
        """For every response token, in order, the index of the position that predicts it."""
        return torch.tensor([i for start, end, first in self.spans for i in (first, *range(start, end - 1))])

    def targets(self) -> Tensor:
        return torch.tensor([token for response in self.responses for token in response.ids])

    def weights(self) -> Tensor:
        return torch.tensor([weight for response in self.responses for weight in response.weights])


LazyRow = Callable[[], PackedRow]
"""A row that is packed when its turn comes."""


def pack(prefix: Sequence[int], branches: Sequence[Branch]) -> PackedRow:
    """One row over all branches."""
    ids, positions, masks = list(prefix), list(range(len(prefix))), [_causal(len(prefix))]
    spans: list[tuple[int, int, int]] = []
    for branch in branches:
        asked = len(prefix) + len(branch.question)
        _append(ids, positions, branch.question, len(prefix))
        question = len(ids) - 1
        for response in branch.responses:
            start = _append(ids, positions, response.ids, asked)
            spans.append((start, len(ids), question))
        masks.append(_mask(len(prefix), len(branch.question), [len(response.ids) for response in branch.responses]))
    row = PackedRow(torch.tensor([ids]), torch.tensor([positions]), masks, spans)
    row.responses = [response for branch in branches for response in branch.responses]
    return row


def batches(branches: Sequence[Branch], budget: int) -> Iterator[list[Branch]]:
    """Consecutive branches, as many as fit into `budget` tokens, at least one."""
    held: list[Branch] = []
    for branch in branches:
        if held and sum(b.length for b in held) + branch.length > budget:
            yield held
            held = []
        held.append(branch)
    if held:
        yield held


def _append(ids: list[int], positions: list[int], more: Sequence[int], at: int) -> int:
    start = len(ids)
    ids += more
    positions += range(at, at + len(more))
    return start


def _causal(length: int) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()


def _mask(prefix: int, question: int, responses: Sequence[int]) -> Tensor:
    """What a branch sees [its tokens, instructions and its tokens]: these, its question, and each response itself."""
    mask = _causal(question + sum(responses))
    start = question
    for length in responses:
        mask[start + length :, start : start + length] = False
        start += length
    return torch.cat((torch.ones(len(mask), prefix, dtype=torch.bool), mask), 1)
