"""Many short examples in one row: the instructions once, every question once, its responses beside each other.

A row is a tree. A question sees the instructions, a response sees the instructions and its own question; the mask
keeps everything else apart, and positions count along the branch, so each response gets the very log-probabilities
that it would get alone.
"""

from collections.abc import Iterator, Sequence
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
class Row:
    """One packed row. `spans` are [start, end) of each response and the position that predicts its first token."""

    ids: Tensor
    positions: Tensor
    mask: Tensor
    spans: list[tuple[int, int, int]] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)

    def predictors(self) -> Tensor:
        """For every response token, in order, the index of the position that predicts it."""
        return torch.tensor([i for start, end, first in self.spans for i in (first, *range(start, end - 1))])

    def targets(self) -> Tensor:
        return torch.tensor([token for response in self.responses for token in response.ids])

    def weights(self) -> Tensor:
        return torch.tensor([weight for response in self.responses for weight in response.weights])


def pack(prefix: Sequence[int], branches: Sequence[Branch]) -> Row:
    """One row over all branches."""
    ids, positions, parents = list(prefix), list(range(len(prefix))), [(0, len(prefix))]
    spans: list[tuple[int, int, int]] = []
    visible: list[tuple[int, int, list[tuple[int, int]]]] = [(0, len(prefix), [])]
    for branch in branches:
        start = _append(ids, positions, branch.question, len(prefix))
        visible.append((start, len(ids), parents))
        trunk = [*parents, (start, len(ids))]
        for response in branch.responses:
            first = _append(ids, positions, response.ids, len(prefix) + len(branch.question))
            visible.append((first, len(ids), trunk))
            spans.append((first, len(ids), trunk[-1][1] - 1))
    row = Row(torch.tensor([ids]), torch.tensor([positions]), _mask(len(ids), visible), spans)
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


def _mask(length: int, visible: list[tuple[int, int, list[tuple[int, int]]]]) -> Tensor:
    mask = torch.zeros(1, 1, length, length, dtype=torch.bool)
    for start, end, seen in visible:
        mask[..., start:end, start:end] = torch.ones(end - start, end - start, dtype=torch.bool).tril()
        for first, last in seen:
            mask[..., start:end, first:last] = True
    return mask
