"""What the stages minimise.

The confidence of an output is two digits, so its expected Brier score over the model's own distribution of the first
digit can be computed and differentiated exactly instead of being sampled and weighed by its reward (REINFORCE): the
low-variance form of the reward in `demur.core.scoring`.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from demur_smol_lab.llama import Llama
from demur_smol_lab.packing import PackedRow, Response

CHUNK = 128
"""Positions whose logits are there at once: those of a whole row are 100 MB, and slow to make room for."""


@dataclass(frozen=True, slots=True)
class Stated:
    """The confidences of one response: where the first decimals stand in its ids, what each should tend to (0 to 1),
    and, for claims, whether the final answer was right (the target of their minimum; None leaves it out)."""

    places: tuple[int, ...]
    targets: tuple[float, ...]
    valid: float | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What a loss wants of the logits of a row's response tokens, in order: `missed`, the cross-entropy of each
    [tokens]; `total`, the logarithm of their summed exponentials [tokens]; and those of `digits` [tokens, digits]."""

    missed: Tensor
    total: Tensor
    digits: Tensor


def look(model: Llama, row: PackedRow, digits: Tensor) -> Seen:
    """Chunk by chunk; what the backward pass needs of a chunk is computed again when its turn comes."""
    hidden = model.hidden(row.ids, row.positions, row.masks)[0, row.predictors()]

    def part(states: Tensor, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        logits = model.logits(states)
        total = logits.logsumexp(-1)
        return total - logits.gather(1, targets[:, None])[:, 0], total, logits[:, digits]

    parts = [
        checkpoint(part, states, targets, use_reentrant=False, preserve_rng_state=False)
        for states, targets in zip(hidden.split(CHUNK), row.targets().split(CHUNK), strict=True)
    ]
    return Seen(*(torch.cat(each) for each in zip(*parts, strict=True)))


def imitation(model: Llama, row: PackedRow) -> tuple[Tensor, dict[str, float]]:
    """Weighted mean cross-entropy of the response tokens."""
    value = _weighted(look(model, row, torch.tensor([], dtype=torch.long)), row)
    return value, {"cross_entropy": value.item()}


def _weighted(seen: Seen, row: PackedRow) -> Tensor:
    weights = row.weights()
    return (seen.missed * weights).sum() / weights.sum()


class ExactBrier:
    """Expected squared distance of the stated confidences from their targets, plus an anchor on the other tokens.

    Without the anchor the form of the ending falls apart. `digits` are the ten digit tokens; the score looks at their
    shares among each other only, and `only_digits` is the weight of the cross-entropy of writing any digit at all where
    one belongs. A row that states nothing is imitated as it is.
    """

    def __init__(
        self, digits: tuple[int, ...], *, strength: float = 6.0, anchor: float = 2.0, only_digits: float = 1.0
    ) -> None:
        self._digits = torch.tensor(digits)
        self._strength, self._anchor, self._only_digits = strength, anchor, only_digits

    def __call__(self, model: Llama, row: PackedRow) -> tuple[Tensor, dict[str, float]]:
        if not any(isinstance(response.note, Stated) for response in row.responses):
            return imitation(model, row)
        seen = look(model, row, self._digits)
        anchor = _weighted(seen, row)
        brier = torch.stack(self._scores(seen.digits, row)).mean()
        leak = self._leak(seen, row)
        value = self._strength * brier + self._anchor * anchor + self._only_digits * leak
        return value, {"brier": brier.item(), "anchor": anchor.item(), "leak": leak.item()}

    def _leak(self, seen: Seen, row: PackedRow) -> Tensor:
        """Mean cross-entropy of a digit, whichever, at the two places of each confidence."""
        places: list[int] = []
        start = 0
        for response in row.responses:
            if isinstance(response.note, Stated):
                places += [start + place + k for place in response.note.places for k in (0, 1)]
            start += len(response.ids)
        return (seen.total[places] - seen.digits[places].logsumexp(-1)).mean()

    def _scores(self, digits: Tensor, row: PackedRow) -> list[Tensor]:
        scores: list[Tensor] = []
        start = 0
        for response in row.responses:
            scores += self._of_response(digits[start : start + len(response.ids)], response)
            start += len(response.ids)
        return scores

    def _of_response(self, digits: Tensor, response: Response) -> list[Tensor]:
        stated = response.note
        if not isinstance(stated, Stated):
            return []
        probabilities, values, scores = [], [], []
        for place, target in zip(stated.places, stated.targets, strict=True):
            first, second = digits[place].softmax(-1), digits[place + 1].softmax(-1)
            value = digit_values(second, int((self._digits == response.ids[place]).nonzero()))
            scores.append((first * (value - target) ** 2).sum())
            probabilities.append(first)
            values.append(value)
        if stated.valid is not None:
            scores.append(expected_minimum_score(torch.stack(probabilities), torch.stack(values), stated.valid))
        return scores


def digit_values(second: Tensor, drawn: int) -> Tensor:
    """The confidence each first decimal stands for [10]: the middle of its tenth, and for the one that was drawn
    its expectation over the second decimal, whose distribution `second` is known."""
    values = torch.arange(10) / 10 + 0.045
    expected = drawn / 10 + (second * torch.arange(10)).sum() / 100
    return torch.where(torch.arange(10) == drawn, expected, values)


def expected_minimum_score(probabilities: Tensor, values: Tensor, valid: float) -> Tensor:
    """E[(min - valid)²] for independent claims; both arguments are [claims, 10], `values` rising in each row."""
    order = values.flatten().argsort()
    at = values.flatten()[order].detach()
    survival = ((values[None] >= at[:, None, None]) * probabilities[None]).sum(-1).prod(-1)  # P(min >= at), falling
    mass = survival - torch.cat((survival[1:], survival.new_zeros(1)))
    return (mass * (values.flatten()[order] - valid) ** 2).sum()
