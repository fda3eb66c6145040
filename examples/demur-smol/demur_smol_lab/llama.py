"""A Llama of the Hugging Face layout with adapters of low rank, written for packed training and batched sampling.

Only what differs between sequences is stored per sequence: a prompt's shared beginning is kept once, as the keys and
values of `Past`.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from demur_smol_lab.attention import attention

PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True, slots=True)
class Shape:
    """What the forward pass needs from a model's config.json."""

    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    eps: float
    rope_theta: float

    @classmethod
    def read(cls, folder: Path) -> "Shape":
        """Raises ValueError for another architecture than Llama with default rotary positions."""
        config = json.loads((folder / "config.json").read_text())
        rope = config.get("rope_parameters") or {"rope_theta": config.get("rope_theta", 10000.0)}
        if config["model_type"] != "llama" or rope.get("rope_type", "default") != "default":
            raise ValueError(f"{folder}: the light loop knows Llama models with default rotary positions only")
        heads = config["num_attention_heads"]
        return cls(
            config["num_hidden_layers"],
            heads,
            config["num_key_value_heads"],
            config.get("head_dim") or config["hidden_size"] // heads,
            config["rms_norm_eps"],
            rope["rope_theta"],
        )


def faster(clock: Callable[[], float] = time.perf_counter) -> torch.dtype:
    """The precision this machine multiplies faster in, by `clock` in seconds: bfloat16 only where it has instructions
    for that."""
    spent: dict[torch.dtype, float] = {}
    for precision in (torch.float32, torch.bfloat16):
        x = torch.ones(512, 1024, dtype=precision)
        torch.matmul(x, x.T)  # the first one pays for setting up
        began = clock()
        for _ in range(4):
            torch.matmul(x, x.T)
        spent[precision] = clock() - began
    return min(spent, key=lambda precision: spent[precision])


class Linear(nn.Module):
    """A frozen projection, plus a trainable product of rank `rank` that starts at zero.

    It computes in the precision of `weight`; the adapter itself is float32, so that small steps are not lost.
    """

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)
        self.rank = rank
        self.folded = False
        if rank:
            self.lora_a = nn.Parameter(torch.randn(rank, weight.shape[1]) * weight.shape[1] ** -0.5)
            self.lora_b = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, x: Tensor) -> Tensor:
        x = x.to(self.weight.dtype)
        y = F.linear(x, self.weight)
        if self.rank and not self.folded:
            y = y + F.linear(F.linear(x, self.lora_a.to(x.dtype)), self.lora_b.to(x.dtype))
        return y

    @torch.no_grad()
    def fold(self, sign: int) -> None:
        """Put the adapter into the weight (+1) or take it out again (-1), which leaves no rounding behind."""
        if self.rank and sign > 0 and not self.folded:
            change = self.lora_b @ self.lora_a
            self._plain = self.weight.data
            self.weight.data = (self.weight.float() + change).to(self.weight.dtype)
            self.folded = True
        elif self.rank and sign < 0 and self.folded:
            self.weight.data = self._plain
            self.folded = False


@dataclass(slots=True)
class Past:
    """Keys and values of earlier positions, one pair [batch or 1, kv heads, positions, head dim] a layer."""

    layers: list[tuple[Tensor, Tensor]]

    @property
    def length(self) -> int:
        return self.layers[0][0].shape[2]


class Layer(nn.Module):
    """Attention, then the gated MLP, each behind its norm."""

    def __init__(self, shape: Shape, weights: dict[str, Tensor], prefix: str, rank: int) -> None:
        super().__init__()
        self.shape = shape
        self.norm_in = nn.Parameter(weights[f"{prefix}input_layernorm.weight"].float(), requires_grad=False)
        self.norm_mid = nn.Parameter(weights[f"{prefix}post_attention_layernorm.weight"].float(), requires_grad=False)

        def linear(name: str) -> Linear:
            return Linear(weights[f"{prefix}{_block(name)}.{name}.weight"], rank)

        self.q_proj, self.k_proj, self.v_proj, self.o_proj = map(linear, PROJECTIONS[:4])
        self.gate_proj, self.up_proj, self.down_proj = map(linear, PROJECTIONS[4:])

    def project(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values [batch, heads, positions, head dim], rotated to their positions."""
        h = _norm(x, self.norm_in, self.shape.eps)
        q, k, v = (_heads(p(h), self.shape.head_dim) for p in (self.q_proj, self.k_proj, self.v_proj))
        return _rotate(q, cos, sin).to(v.dtype), _rotate(k, cos, sin).to(v.dtype), v

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """What follows attention: [batch, heads, positions, head dim] back into the residual stream."""
        x = x + self.o_proj(attended.transpose(1, 2).flatten(2))
        h = _norm(x, self.norm_mid, self.shape.eps)
        return x + self.down_proj(F.silu(self.gate_proj(h)) * self.up_proj(h))


class Llama(nn.Module):
    """`adapted` counts the layers, from the top, that carry an adapter; the lower ones cost no backward pass.

    Projections and logits compute in `precision`; norms and the residual stream in float32.
    bfloat16 is what the weights are stored in and what vLLM serves, and twice as fast on a CPU that has instructions
    for it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        rank: int = 0,
        adapted: int | None = None,
        precision: torch.dtype = torch.float32,
        device: str = "cpu",
    ) -> None:
        super().__init__()
        self.shape = Shape.read(folder)
        weights = {name: w.to(precision) for name, w in load_file(folder / "model.safetensors").items()}
        self.frozen = self.shape.layers - (self.shape.layers if adapted is None else adapted)
        self.blocks = [
            Layer(self.shape, weights, f"model.layers.{i}.", rank if i >= self.frozen else 0)
            for i in range(self.shape.layers)
        ]
        self.layers = nn.ModuleList(self.blocks)
        self.embedding = nn.Parameter(weights["model.embed_tokens.weight"], requires_grad=False)
        self.norm_out = nn.Parameter(weights["model.norm.weight"].float(), requires_grad=False)
        head = weights.get("lm_head.weight")
        self.head = self.embedding if head is None else nn.Parameter(head, requires_grad=False)
        half = torch.arange(0, self.shape.head_dim, 2) / self.shape.head_dim
        self.frequencies = self.shape.rope_theta**-half
        self.to(device)
        self.frequencies = self.frequencies.to(device)

    @property
    def device(self) -> torch.device:
        return self.embedding.device

    def adapters(self) -> Iterator[tuple[str, Linear]]:
        """Every adapted projection under its Hugging Face name."""
        for i, layer in enumerate(self.blocks):
            for name in PROJECTIONS:
                linear: Linear = getattr(layer, name)
                if linear.rank:
                    yield f"model.layers.{i}.{_block(name)}.{name}", linear

    def fold(self, sign: int) -> None:
        """Merge all adapters into the weights (+1) or take them out (-1)."""
        for _, linear in self.adapters():
            linear.fold(sign)

    def rotation(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines, [batch, 1, positions, head dim], for integer positions [batch, positions]."""
        angle = (positions[..., None] * self.frequencies).repeat(1, 1, 2)[:, None]
        return angle.cos(), angle.sin()

    def hidden(self, ids: Tensor, positions: Tensor, masks: Sequence[Tensor]) -> Tensor:
        """Final hidden states [batch, positions, width] of stretches that each see the first one and themselves.

        `masks` are True where a position may look: [first, first], then [stretch, first + stretch] for each other."""
        x = self.embed(ids)
        cos, sin = self.rotation(positions)
        groups = self.shape.heads // self.shape.kv_heads
        attend = attention(masks, self.device)
        for i, layer in enumerate(self.blocks):
            with torch.set_grad_enabled(torch.is_grad_enabled() and i >= self.frozen):
                q, k, v = layer.project(x, cos, sin)
                k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
                x = layer.finish(x, attend(q, k, v))
        return _norm(x, self.norm_out, self.shape.eps)

    def embed(self, ids: Tensor) -> Tensor:
        return F.embedding(ids, self.embedding).float()

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden.to(self.head.dtype), self.head).float()


def _block(projection: str) -> str:
    """Which part of a layer a projection belongs to in the Hugging Face layout."""
    return "self_attn" if projection[0] in "qkvo" else "mlp"


def _norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return F.rms_norm(x, weight.shape, weight, eps)


def _heads(x: Tensor, dim: int) -> Tensor:
    return x.unflatten(-1, (-1, dim)).transpose(1, 2)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    left, right = x.chunk(2, -1)
    return x * cos + torch.cat((-right, left), -1) * sin
