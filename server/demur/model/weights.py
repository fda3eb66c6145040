"""Weights: tensors of a Llama GGUF file by their Hugging Face names, and a bfloat16 safetensors file of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gguf import GGUFReader

Weights = dict[str, np.ndarray]

_OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
_INNER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def read_weights(reader: "GGUFReader", heads: int, kv_heads: int, progress: Callable[[float], None]) -> Weights:
    """Every tensor of a Llama, expanded to float32. `progress` is told the share that is done."""
    from gguf import dequantize

    rotary = {"attn_q": heads, "attn_k": kv_heads}
    weights: Weights = {}
    for done, tensor in enumerate(reader.tensors):
        progress(done / len(reader.tensors))
        weight = dequantize(tensor.data, tensor.tensor_type)
        *layer, kind, suffix = tensor.name.split(".")
        if kind in rotary:
            weight = interleaved_to_halves(weight, rotary[kind])
        name = f"model.layers.{layer[1]}.{_INNER[kind]}" if layer else _OUTER[kind]
        weights[f"{name}.{suffix}"] = weight
    return weights


def interleaved_to_halves(weight: np.ndarray, heads: int) -> np.ndarray:
    """The same projection, rows in another order, shape [rows, columns].

    Of each head, GGUF keeps the two rows of a rotary pair beside each other, Hugging Face one in each half.
    """
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def write_weights(weights: Weights, path: Path) -> None:
    """A safetensors file: the length of the header in eight bytes, the header in JSON, the bytes one after another."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, weight in weights.items():
        start, end = end, end + 2 * weight.size
        header[name] = {"dtype": "BF16", "shape": list(weight.shape), "data_offsets": [start, end]}
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    with path.open("wb") as file:
        file.write(len(encoded).to_bytes(8, "little"))
        file.write(encoded)
        for weight in weights.values():
            file.write(to_bfloat16(weight).tobytes())


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Finite float32 values as the bits (uint16) of the nearest bfloat16, ties to even."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")
