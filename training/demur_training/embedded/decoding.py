"""Draws many short samples at once: the instructions are computed once, each question once for all its samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from demur_training.embedded.llama import Llama, Past


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

    Adapters should be folded. Temperature 0 takes the likeliest token. Same arguments, same samples.
    """
    shared = _prefill_prefix(model, prefix)
    dice = torch.Generator().manual_seed(seed)
    size = max(1, batch // samples)
    for start in range(0, len(questions), size):
        chosen = list(range(start, min(start + size, len(questions))))
        run = _Run(model, shared, [questions[i] for i in chosen], samples, limit)
        for index, pairs, ended in run.draw(end, temperature, dice):
            yield Drawn(chosen[index], tuple(i for i, _ in pairs), tuple(p for _, p in pairs), ended)


class _Run:
    """One batch on its way. `own` holds what each sequence does not share; `open` marks its filled positions."""

    def __init__(
        self, model: Llama, shared: Past, questions: Sequence[Sequence[int]], samples: int, limit: int
    ) -> None:
        self.model, self.shared, self.limit = model, shared, limit
        width = max(map(len, questions))
        pads = [width - len(question) for question in questions]
        ids = torch.tensor([[0] * pad + list(question) for pad, question in zip(pads, questions, strict=True)])
        blank = torch.tensor(pads)[:, None]
        self.open = torch.arange(width) >= blank
        positions = (torch.arange(width) - blank).clamp(min=0) + shared.length
        self.own = _room(model, len(questions), width)
        causal = torch.ones(width, width, dtype=torch.bool).tril() & self.open[:, None]
        causal |= torch.eye(width, dtype=torch.bool)  # a pad looks at itself, so that no row of the mask is empty
        self.last = self._forward(ids, positions, 0, causal)[:, -1]
        self.next = positions[:, -1:] + 1
        self.index = torch.arange(len(questions))
        self._keep(self.index.repeat_interleave(samples))
        self._widen(width + limit)
        self.filled = width

    def draw(
        self, end: int, temperature: float, dice: torch.Generator
    ) -> Iterator[tuple[int, list[tuple[int, float]], bool]]:
        """(question, pairs of token and log-probability, whether it ended) for each sequence as it ends."""
        drawn: list[list[tuple[int, float]]] = [[] for _ in self.index]
        for step in range(self.limit):
            tokens, logprobs = _choose(self.model.logits(self.last), temperature, dice)
            ended = tokens == end
            for sequence, pair in zip(drawn, zip(tokens.tolist(), logprobs.tolist(), strict=True), strict=True):
                sequence.append(pair)
            for i in ended.nonzero().flatten().tolist():
                yield int(self.index[i]), drawn[i][:-1], True
            left = (~ended).nonzero().flatten()
            if len(left) < len(tokens):
                drawn = [drawn[i] for i in left.tolist()]
                self._keep(left)
                tokens = tokens[left]
            if not drawn or step + 1 == self.limit:
                break
            self._step(tokens)
        for i, sequence in enumerate(drawn):
            yield int(self.index[i]), sequence, False

    def _step(self, tokens: Tensor) -> None:
        self.open = torch.cat((self.open, torch.ones(len(tokens), 1, dtype=torch.bool)), 1)
        self.last = self._forward(tokens[:, None], self.next, self.filled, self.open[:, None])[:, -1]
        self.next = self.next + 1
        self.filled += 1

    def _forward(self, ids: Tensor, positions: Tensor, start: int, mask: Tensor) -> Tensor:
        """Hidden states of new positions, written to the cache from `start` on; `mask` [batch, new, cached]."""
        model, end = self.model, start + ids.shape[1]
        x = model.embed(ids)
        cos, sin = model.rotation(positions)
        for layer, (keys, values), past in zip(model.blocks, self.own.layers, self.shared.layers, strict=True):
            q, k, v = layer.project(x, cos, sin)
            keys[:, :, start:end], values[:, :, start:end] = k, v
            x = layer.finish(x, _attend(q, past, (keys[:, :, :end], values[:, :, :end]), mask))
        return F.rms_norm(x, model.norm_out.shape, model.norm_out, model.shape.eps)

    def _keep(self, rows: Tensor) -> None:
        self.own = Past([(k[rows], v[rows]) for k, v in self.own.layers])
        self.open, self.next, self.last, self.index = (t[rows] for t in (self.open, self.next, self.last, self.index))

    def _widen(self, width: int) -> None:
        more = width - self.own.length
        self.own = Past([(F.pad(k, (0, 0, 0, more)), F.pad(v, (0, 0, 0, more))) for k, v in self.own.layers])


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
    chances = (logits / (temperature or 1.0)).softmax(-1)
    if temperature == 0:
        tokens = logits.argmax(-1)
    else:
        below = chances.cumsum(-1)  # one die a row: four times faster than one a token
        thrown = torch.rand(len(logits), 1, generator=dice) * below[:, -1:]
        tokens = torch.searchsorted(below, thrown, right=True)[:, 0].clamp(max=logits.shape[1] - 1)
    return tokens, chances.gather(1, tokens[:, None])[:, 0].clamp(min=1e-9).log()


def _room(model: Llama, batch: int, width: int) -> Past:
    shape = model.shape
    size = (batch, shape.kv_heads, width, shape.head_dim)
    kind = model.embedding.dtype
    return Past([(torch.zeros(size, dtype=kind), torch.zeros(size, dtype=kind)) for _ in range(shape.layers)])


def _prefill_prefix(model: Llama, prefix: Sequence[int]) -> Past:
    """Keys and values of the instructions, with a batch of one."""
    x = model.embed(torch.tensor([list(prefix)]))
    cos, sin = model.rotation(torch.arange(len(prefix))[None])
    groups = model.shape.heads // model.shape.kv_heads
    kept: list[tuple[Tensor, Tensor]] = []
    for layer in model.blocks:
        q, k, v = layer.project(x, cos, sin)
        kept.append((k, v))
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        x = layer.finish(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))
    return Past(kept)
