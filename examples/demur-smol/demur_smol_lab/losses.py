"""What the stages minimise.

The confidence of an output is two digits, so its expected Brier score over the model's own distribution of the first
digit can be computed and differentiated exactly instead of being sampled and weighed by its reward (REINFORCE): the
low-variance form of the reward in `demur.core.reward_rules`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from demur_smol_lab.llama import Llama
from demur_smol_lab.packing import PackedRow, Response

CHUNK, LARGE_CHUNK = 128, 4096
"""Positions whose logits are there at once, on a CPU and on a GPU: those of a whole row are 100 MB, and slow to make
room for."""


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


def look(model: Llama, row: PackedRow, digits: Tensor, chunk: int | None = None) -> Seen:
    """`chunk` positions at a time; what the backward pass needs of them is computed again when their turn comes."""
    row, digits = row.to(model.device), digits.to(model.device)
    chunk = chunk or (LARGE_CHUNK if model.device.type == "cuda" else CHUNK)
    hidden = model.hidden(row.ids, row.positions, row.masks)[0, row.predictors()]

    def part(states: Tensor, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        logits = model.logits(states)
        total = logits.logsumexp(-1)
        return total - logits.gather(1, targets[:, None])[:, 0], total, logits[:, digits]

    parts = [
        checkpoint(part, states, targets, use_reentrant=False, preserve_rng_state=False)
        for states, targets in zip(hidden.split(chunk), row.targets().split(chunk), strict=True)
    ]
    return Seen(*(torch.cat(each) for each in zip(*parts, strict=True)))


def imitation(model: Llama, row: PackedRow, chunk: int | None = None) -> tuple[Tensor, dict[str, float]]:
    """Weighted mean cross-entropy of the response tokens, in nats; logits are computed for `chunk` of them at once."""
    value = _weighted(look(model, row, torch.tensor([], dtype=torch.long), chunk), row)
    return value, {"cross_entropy": value.item()}


def _weighted(seen: Seen, row: PackedRow) -> Tensor:
    weights = row.weights().to(seen.missed.device)
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
        self._place = {token: digit for digit, token in enumerate(digits)}
        self._strength, self._anchor, self._only_digits = strength, anchor, only_digits

    def __call__(self, model: Llama, row: PackedRow) -> tuple[Tensor, dict[str, float]]:
        if not any(isinstance(response.note, Stated) for response in row.responses):
            return imitation(model, row)
        seen = look(model, row, self._digits)
        anchor = _weighted(seen, row)
        stated = _gather(row.responses)
        brier = self._scores(seen.digits, stated).mean()
        leak = self._leak(seen, stated)
        value = self._strength * brier + self._anchor * anchor + self._only_digits * leak
        return value, {"brier": brier.item(), "anchor": anchor.item(), "leak": leak.item()}

    def _leak(self, seen: Seen, stated: "_Gathered") -> Tensor:
        """Mean cross-entropy of a digit, whichever, at the two places of each confidence."""
        places = torch.tensor([place + k for place in stated.places for k in (0, 1)], device=seen.total.device)
        return (seen.total[places] - seen.digits[places].logsumexp(-1)).mean()

    def _scores(self, digits: Tensor, stated: "_Gathered") -> Tensor:
        """One score for each confidence, then one for each minimum that counts."""
        device = digits.device
        places = torch.tensor(stated.places, device=device)
        drawn = torch.tensor([self._place[token] for token in stated.drawn], device=device)
        targets = torch.tensor(stated.targets, device=device)
        first, second = digits[places].softmax(-1), digits[places + 1].softmax(-1)
        values = digit_values(second, drawn)
        scores = (first * (values - targets[:, None]) ** 2).sum(-1)
        if not stated.minima:
            return scores
        most = max(len(group) for group, _ in stated.minima)
        # a place that no claim has is certain to be above all others
        group = torch.tensor([[*g, *[len(first)] * (most - len(g))] for g, _ in stated.minima], device=device)
        certain = torch.nn.functional.one_hot(torch.tensor([9], device=device), 10).to(first.dtype)
        probabilities = torch.cat((first, certain))[group]
        above = torch.full((1, 10), 2.0, device=device)
        valid = torch.tensor([valid for _, valid in stated.minima], device=device)
        return torch.cat((scores, expected_minimum_score(probabilities, torch.cat((values, above))[group], valid)))


@dataclass(frozen=True, slots=True)
class _Gathered:
    """All confidences of a row: their places among its response tokens, the tokens drawn there, their targets, and the
    numbers of those whose minimum counts, with what that should be."""

    places: list[int]
    drawn: list[int]
    targets: list[float]
    minima: list[tuple[list[int], float]]


def _gather(responses: Sequence[Response]) -> _Gathered:
    found = _Gathered([], [], [], [])
    start = 0
    for response in responses:
        stated = response.note
        if isinstance(stated, Stated):
            if stated.valid is not None:
                first = len(found.places)
                found.minima.append(([*range(first, first + len(stated.places))], stated.valid))
            found.places.extend(start + place for place in stated.places)
            found.drawn.extend(response.ids[place] for place in stated.places)
            found.targets.extend(stated.targets)
        start += len(response.ids)
    return found


def digit_values(second: Tensor, drawn: Tensor | int) -> Tensor:
    """The confidence each first decimal stands for [..., 10]: the middle of its tenth, and for the one that was drawn
    [...] its expectation over the second decimal, whose distribution `second` [..., 10] is known."""
    digits = torch.arange(10, device=second.device)
    drawn = torch.as_tensor(drawn, device=second.device)
    expected = drawn / 10 + (second * digits).sum(-1) / 100
    return torch.where(digits == drawn[..., None], expected[..., None], digits / 10 + 0.045)


def expected_minimum_score(probabilities: Tensor, values: Tensor, valid: Tensor | float) -> Tensor:
    """E[(min - valid)²] for independent claims; the first two are [..., claims, 10], `valid` is [...]."""
    flat = values.flatten(-2)
    order = flat.argsort(-1)
    flat = flat.gather(-1, order)
    at = flat.detach()[..., None, None]
    survival = (
        ((values[..., None, :, :] >= at) * probabilities[..., None, :, :]).sum(-1).prod(-1)
    )  # P(min >= at), falling
    mass = survival - torch.cat((survival[..., 1:], torch.zeros_like(survival[..., :1])), -1)
    return (mass * (flat - torch.as_tensor(valid, device=flat.device)[..., None]) ** 2).sum(-1)
