"""Attention of packed rows: stretches that each see the first one and themselves."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from demur_smol_lab.packing import Layout, sees

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Queries, keys and values [1, heads, positions, head dim] -> what each position has attended to."""


def attention(masks: Sequence[Tensor], device: torch.device) -> Attend:
    """How the stretches of `masks` attend, the same for every layer: one after the other on a CPU, where one mask over
    a whole row would be mostly False and as slow as if it were not; all at once, padded to the longest, on a GPU."""
    if device.type == "cuda" and isinstance(masks, Layout) and masks.branches:
        return Padded(masks, device)
    return OneByOne([mask.to(device) for mask in masks])


class OneByOne:
    """Each stretch by itself."""

    def __init__(self, masks: Sequence[Tensor]) -> None:
        self.masks, self.lengths = masks, [len(mask) for mask in masks]

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        # so small, they are slower in bfloat16, even where matrix products are twice as fast in it
        queries, keys, values = (x.float().split(self.lengths, 2) for x in (q, k, v))
        attended = [F.scaled_dot_product_attention(queries[0], keys[0], values[0], attn_mask=self.masks[0])]
        for query, key, value, mask in zip(queries[1:], keys[1:], values[1:], self.masks[1:], strict=True):
            seen = torch.cat((keys[0], key), 2), torch.cat((values[0], value), 2)
            attended.append(F.scaled_dot_product_attention(query, *seen, attn_mask=mask))
        return torch.cat(attended, 2)


class Padded:
    """All stretches but the first side by side. `index` says where in the row each of [stretches, longest] stands, and
    `back` where each position comes from again."""

    def __init__(self, layout: Layout, device: torch.device) -> None:
        parts = [torch.tensor(part) for part in layout.parts()]
        sizes = torch.tensor([len(part) for part in parts])
        self.start, width = layout.prefix, int(sizes.max())
        inside = torch.arange(width)[None] < sizes[:, None]
        starts = self.start + sizes.cumsum(0) - sizes
        self.index = torch.where(inside, starts[:, None] + torch.arange(width), self.start).flatten().to(device)
        self.back = inside.flatten().nonzero()[:, 0].to(device)
        padded = pad_sequence(parts, batch_first=True).to(device)
        own = sees(padded, padded)
        shared = torch.ones(len(own), width, self.start, dtype=torch.bool, device=device)
        self.mask = torch.cat((shared, own), 2)[:, None]
        self.shape = len(parts), width

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        first, seen, held = (x[:, :, : self.start] for x in (q, k, v))
        head = F.scaled_dot_product_attention(first, seen, held, is_causal=True)
        query, key, value = (self._spread(x) for x in (q, k, v))
        key, value = (
            torch.cat((x[:, :, : self.start].expand(len(own), -1, -1, -1), own), 2) for x, own in ((k, key), (v, value))
        )
        out = F.scaled_dot_product_attention(query, key, value, attn_mask=self.mask)
        flat = out.transpose(0, 1).flatten(1, 2).index_select(1, self.back)
        return torch.cat((head, flat[None]), 2)

    def _spread(self, x: Tensor) -> Tensor:
        """[1, heads, positions, dim] -> [stretches, heads, longest, dim]."""
        return x[0].index_select(1, self.index).unflatten(1, self.shape).transpose(0, 1)
