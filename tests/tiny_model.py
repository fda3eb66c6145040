"""Makes a tiny random chat model: a few seconds, the same bytes every time, small enough for real vLLM and verl."""

import json
from pathlib import Path
from typing import Literal

Architecture = Literal["llama", "qwen3"]

SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
END, START, STOP = SPECIAL_TOKENS
CONTEXT = 4096

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

# What the merges are learned from: enough to have tokens of several characters, some of them across the contract.
CORPUS = [
    "Work out the sum, then state the answer and how sure you are that it is right.",
    'Solution:\n<Confidence value=0.9 text="plain sum">2 + 2 = 4</Confidence>\nAnswer: 4',
    "I do not know the capital of that country.\nAnswer: Paris\nConfidence: 0.35",
    "system user assistant question reasoning threshold penalty",
]


def make_tiny_model(folder: Path, architecture: Architecture = "llama", seed: int = 0) -> Path:
    """Write config, tokenizer, chat template and float32 weights (about 0.6 MB) into `folder`, and return it.

    Samples are printable ASCII and almost never end by themselves (about one token in a million), greedy ones never
    do: tests choose where they end. Tokenizer and weights agree on the size of the vocabulary, which verl needs.
    """
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _write_tokenizer(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = _random_model(architecture, tokenizer.get_vocab_size())
    with torch.no_grad():
        rows = model.get_output_embeddings().weight
        rows *= 3  # far apart, so that a zero row is almost never drawn
        rows[_unwanted(tokenizer)] = 0
    model.generation_config.update(eos_token_id=2, pad_token_id=0)
    model.save_pretrained(folder)
    return folder


def _unwanted(tokenizer) -> list[int]:
    """Ids of the special tokens and of pieces that are not printable ASCII."""
    pieces = {i: tokenizer.decode([i]) for i in range(tokenizer.get_vocab_size())}
    return [i for i, piece in pieces.items() if not (piece and piece.isascii() and piece.isprintable())]


def _write_tokenizer(folder: Path):
    """A byte-level BPE with a few merges; returns the tokenizer."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=384,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": STOP,
        "pad_token": END,
        "model_max_length": CONTEXT,
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2))
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    return tokenizer


def _random_model(architecture: Architecture, vocabulary: int):
    from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

    shape = {
        "vocab_size": vocabulary,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "max_position_embeddings": CONTEXT,
        "initializer_range": 0.2,
        "tie_word_embeddings": False,
        "bos_token_id": None,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "dtype": "float32",
    }
    if architecture == "qwen3":
        return Qwen3ForCausalLM(Qwen3Config(**shape))
    return LlamaForCausalLM(LlamaConfig(**shape))
