"""Draws many short samples at once: the instructions are computed once, each question once for all its samples."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from demur_smol_lab.llama import Llama, Past

REFILL = 8
"""Rows are filled again, or given up, when one in so many is empty: several questions at once are cheaper."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One sample of one question: token ids without the end token, the log-probability with which each was drawn
    (natural logarithm), and whether the end was reached."""

    question: int
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    ended: bool


@torch.inference_mode()
def sample(
    model: Llama,
    prefix: Sequence[int],
    questions: Sequence[Sequence[int]],
    *,
    samples: int,
    limit: int,
    end: int,
    seed: int,
    temperature: float = 1.0,
    batch: int = 128,
) -> Iterator[Drawn]:
    """`samples` outputs of every question, at most `limit` tokens each, in the order they end.

    About `batch` are drawn at a time. Adapters should be folded. Temperature 0 takes the likeliest token. Same
    arguments, same samples.
    """
    dice = torch.Generator().manual_seed(seed)
    rows = samples * min(max(1, batch // samples), len(questions))
    run = _Run(model, _prefill_prefix(model, prefix), rows, max(map(len, questions), default=0) + limit)
    # together those of a length, which need no padding; the longest first, whose answers are the ones waited for
    waiting = deque(sorted(enumerate(questions), key=lambda asked: -len(asked[1])))
    while waiting or run.busy:
        free = run.rows - run.busy
        if waiting and free >= max(samples, run.rows // REFILL):
            run.admit([waiting.popleft() for _ in range(min(free // samples, len(waiting)))], samples)
        elif not waiting and free * REFILL > run.rows:
            run.close_up()
        yield from run.step(limit, end, temperature, dice)


class _Run:
    """`rows` sequences side by side, of at most `width` tokens after the shared beginning. One that ends leaves its row
    to another: short answers would else wait for the longest. `own` holds what each does not share, `length` how much
    of it is filled, `last` the hidden state that predicts its next token."""

    def __init__(self, model: Llama, shared: Past, rows: int, width: int) -> None:
        self.model, self.shared = model, shared
        self.own = _room(model, rows, width)
        self.device = model.device
        self.length = torch.zeros(rows, dtype=torch.long, device=self.device)
        self.last = torch.zeros(rows, model.embedding.shape[1], device=self.device)
        self.question: list[int | None] = [None] * rows
        self.drawn: list[list[tuple[int, float]]] = [[] for _ in range(rows)]

    @property
    def rows(self) -> int:
        return len(self.question)

    @property
    def busy(self) -> int:
        return self.rows - self.question.count(None)

    def admit(self, asked: Sequence[tuple[int, Sequence[int]]], samples: int) -> None:
        """Compute some numbered questions and give each `samples` free rows."""
        width = max(len(question) for _, question in asked)
        lengths = self._tensor([len(question) for _, question in asked])
        ids = self._tensor([[*question] + [0] * (width - len(question)) for _, question in asked])
        positions = torch.arange(width, device=self.device).expand(ids.shape) + self.shared.length
        free = [row for row, question in enumerate(self.question) if question is None][: len(asked) * samples]
        rows = self._tensor(free)

        def place(kept: Tensor, new: Tensor) -> Tensor:
            kept[rows, :, :width] = new.repeat_interleave(samples, 0)
            return new

        causal = torch.ones(len(ids), width, width, dtype=torch.bool, device=self.device).tril()
        hidden = self._forward(ids, positions, causal, place)
        self.last[rows] = hidden[torch.arange(len(ids), device=self.device), lengths - 1].repeat_interleave(samples, 0)
        self.length[rows] = lengths.repeat_interleave(samples)
        for row, number in zip(free, (number for number, _ in asked for _ in range(samples)), strict=True):
            self.question[row], self.drawn[row] = number, []

    def step(self, limit: int, end: int, temperature: float, dice: torch.Generator) -> Iterator[Drawn]:
        """One token for every sequence. Those that end with it, or have `limit` tokens, come out."""
        tokens, logprobs = _choose(self.model.logits(self.last), temperature, dice)
        for row, pair in enumerate(zip(tokens.tolist(), logprobs.tolist(), strict=True)):
            question, drawn = self.question[row], self.drawn[row]
            if question is None:
                continue
            ended = pair[0] == end
            if not ended:
                drawn.append(pair)
            if ended or len(drawn) == limit:
                yield Drawn(question, tuple(i for i, _ in drawn), tuple(p for _, p in drawn), ended)
                self.question[row] = None
                self.length[row] = 0  # an empty row goes on at its beginning, where there is always room
        if self.busy:
            self._extend(tokens)

    def _extend(self, tokens: Tensor) -> None:
        rows, at = torch.arange(self.rows, device=self.device), self.length
        filled = int(at.max()) + 1

        def place(kept: Tensor, new: Tensor) -> Tensor:
            kept[rows, :, at] = new[:, :, 0]
            return kept[:, :, :filled]

        seen = torch.arange(filled, device=self.device) <= at[:, None]
        positions = (at + self.shared.length)[:, None]
        self.last = self._forward(tokens[:, None], positions, seen[:, None], place)[:, -1]
        self.length = at + self._tensor([question is not None for question in self.question])

    def _tensor(self, values: Sequence[Any]) -> Tensor:
        return torch.tensor(values).to(self.device)

    def close_up(self) -> None:
        """Give up the empty rows."""
        kept = [row for row, question in enumerate(self.question) if question is not None]
        rows = self._tensor(kept)
        self.own = Past([(k[rows], v[rows]) for k, v in self.own.layers])
        self.length, self.last = self.length[rows], self.last[rows]
        self.question, self.drawn = [self.question[row] for row in kept], [self.drawn[row] for row in kept]

    def _forward(
        self, ids: Tensor, positions: Tensor, mask: Tensor, place: Callable[[Tensor, Tensor], Tensor]
    ) -> Tensor:
        """Hidden states of new positions. `place` keeps the keys or values of one layer, and returns the
        [batch, kv heads, seen, head dim] of which each new position sees what `mask` [batch, new, seen] says."""
        model = self.model
        x = model.embed(ids)
        cos, sin = model.rotation(positions)
        for layer, (keys, values), past in zip(model.blocks, self.own.layers, self.shared.layers, strict=True):
            q, k, v = layer.project(x, cos, sin)
            x = layer.finish(x, _attend(q, past, (place(keys, k), place(values, v)), mask))
        return F.rms_norm(x, model.norm_out.shape, model.norm_out, model.shape.eps)


def _attend(q: Tensor, shared: tuple[Tensor, Tensor], own: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
    """Attention over the shared beginning, seen by all, and over each sequence's own positions.

    q is [batch, heads, new, dim]; several query heads share one key head.
    """
    batch, heads, new, dim = q.shape
    kv = own[0].shape[1]
    grouped = q.reshape(batch, kv, heads // kv, new, dim) * dim**-0.5
    flat = grouped.permute(1, 0, 2, 3, 4).reshape(kv, -1, dim)
    there = flat @ shared[0][0].transpose(1, 2)
    there = there.reshape(kv, batch, heads // kv, new, -1).permute(1, 0, 2, 3, 4)
    here = grouped.flatten(2, 3) @ own[0].transpose(2, 3)
    here = here.unflatten(2, (heads // kv, new)).masked_fill(~mask[:, None, None], float("-inf"))
    weights = torch.cat((there, here), -1).float().softmax(-1).to(q.dtype)
    first, second = weights.split([there.shape[-1], here.shape[-1]], -1)
    out = (first.permute(1, 0, 2, 3, 4).reshape(kv, -1, first.shape[-1]) @ shared[1][0]).reshape(
        kv, batch, heads // kv, new, dim
    )
    out = out.permute(1, 0, 2, 3, 4) + (second.flatten(2, 3) @ own[1]).unflatten(2, (heads // kv, new))
    return out.reshape(batch, heads, new, dim)


def _choose(logits: Tensor, temperature: float, dice: torch.Generator) -> tuple[Tensor, Tensor]:
    """A token for each row, and its log-probability."""
    probabilities = (logits / (temperature or 1.0)).softmax(-1)
    if temperature == 0:
        tokens = logits.argmax(-1)
    else:
        below = probabilities.cumsum(-1)  # one die a row: four times faster than one a token
        thrown = torch.rand(len(logits), 1, generator=dice).to(below.device) * below[:, -1:]
        tokens = torch.searchsorted(below, thrown, right=True)[:, 0].clamp(max=logits.shape[1] - 1)
    return tokens, probabilities.gather(1, tokens[:, None])[:, 0].clamp(min=1e-9).log()


def _room(model: Llama, batch: int, width: int) -> Past:
    shape = model.shape
    size = (batch, shape.kv_heads, width, shape.head_dim)
    kind = model.embedding.dtype
    empty = [torch.zeros(size, dtype=kind, device=model.device) for _ in range(2 * shape.layers)]
    return Past([*zip(empty[::2], empty[1::2], strict=True)])


def _prefill_prefix(model: Llama, prefix: Sequence[int]) -> Past:
    """Keys and values of the instructions, with a batch of one."""
    x = model.embed(torch.tensor([list(prefix)]).to(model.device))
    cos, sin = model.rotation(torch.arange(len(prefix), device=model.device)[None])
    groups = model.shape.heads // model.shape.kv_heads
    kept: list[tuple[Tensor, Tensor]] = []
    for layer in model.blocks:
        q, k, v = layer.project(x, cos, sin)
        kept.append((k, v))
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        x = layer.finish(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))
    return Past(kept)
