"""Many short examples in one row: the instructions once, every question once, its responses beside each other.

A row is a tree. A question sees the instructions, a response sees the instructions and its own question; the rest is
kept apart, and positions count along the branch, so each response gets the very log-probabilities that it would get
alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

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


@dataclass(frozen=True, slots=True)
class Layout(Sequence[Tensor]):
    """Which position of a row sees which, as masks that are made when asked for: of `prefix` instructions, what they
    see of themselves; of each branch, what it sees of the instructions and of itself: these, its question, and each
    response itself. `branches` are lengths, of the question and of each response."""

    prefix: int
    branches: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return 1 + len(self.branches)

    @overload
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Tensor]: ...
    def __getitem__(self, index: int | slice) -> Tensor | Sequence[Tensor]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index == 0:
            return torch.ones(self.prefix, self.prefix, dtype=torch.bool).tril()
        parts = torch.tensor(self.parts()[index - 1])
        own = sees(parts, parts)
        return torch.cat((torch.ones(len(own), self.prefix, dtype=torch.bool), own), 1)

    def parts(self) -> list[list[int]]:
        """Which part of its branch each position belongs to: 0 the question, then its responses one by one."""
        return [[part for part, length in enumerate(branch) for _ in range(length)] for branch in self.branches]


def sees(queries: Tensor, keys: Tensor) -> Tensor:
    """Whether each position of a branch sees each of them, from their parts [..., positions]: a causal mask in which
    responses do not see each other."""
    causal = torch.ones(queries.shape[-1], keys.shape[-1], dtype=torch.bool, device=keys.device).tril()
    return causal & ((keys[..., None, :] == 0) | (keys[..., None, :] == queries[..., :, None]))


@dataclass(slots=True)
class PackedRow:
    """One packed row. `spans` are [start, end) of each response and the position that predicts its first token."""

    ids: Tensor
    positions: Tensor
    masks: Layout
    spans: list[tuple[int, int, int]] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)

    def to(self, device: torch.device) -> "PackedRow":
        """The row with its tensors on a device."""
        if self.ids.device == device:
            return self
        return replace(self, ids=self.ids.to(device), positions=self.positions.to(device))

    def predictors(self) -> Tensor:
        """For every response token, in order, the index of the position that predicts it."""
        return self._tensor([i for start, end, first in self.spans for i in (first, *range(start, end - 1))])

    def targets(self) -> Tensor:
        return self._tensor([token for response in self.responses for token in response.ids])

    def weights(self) -> Tensor:
        return self._tensor([weight for response in self.responses for weight in response.weights])

    def _tensor(self, values: Sequence[Any]) -> Tensor:
        return torch.tensor(values).to(self.ids.device)


LazyRow = Callable[[], PackedRow]
"""A row that is packed when its turn comes."""


def pack(prefix: Sequence[int], branches: Sequence[Branch]) -> PackedRow:
    """One row over all branches."""
    ids, positions = list(prefix), list(range(len(prefix)))
    spans: list[tuple[int, int, int]] = []
    for branch in branches:
        asked = len(prefix) + len(branch.question)
        _append(ids, positions, branch.question, len(prefix))
        question = len(ids) - 1
        for response in branch.responses:
            start = _append(ids, positions, response.ids, asked)
            spans.append((start, len(ids), question))
    lengths = tuple(
        (len(branch.question), *(len(response.ids) for response in branch.responses)) for branch in branches
    )
    row = PackedRow(torch.tensor([ids]), torch.tensor([positions]), Layout(len(prefix), lengths), spans)
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
