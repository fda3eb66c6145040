"""A toy task with known uncertainty, and a tiny model that answers it: for the end-to-end smoke test on a CPU.

"A fair die with N sides is thrown. Which side lands up?" No answer is better than another, so the chance of being
right is 1/N and nothing but the stated confidence can earn reward: the best is 1/N squared on average, at p = 1/N.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demur import prompts

SIDES = (1, 2, 4, 10)
SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass(frozen=True, slots=True)
class Throw:
    """One question; `side` is what came up."""

    number: int
    sides: int
    side: int

    @property
    def question(self) -> str:
        return f"Throw {self.number}: a fair die with {self.sides} sides is thrown. Which side lands up?"


def throws(count: int, seed: int, *, loaded: bool = False) -> Iterator[Throw]:
    """Every number of sides equally often, numbered so that no two questions of up to 10,000 are the same.

    Loaded dice are asked about in the same words and land on 1: only the answer tells whether it is right.
    """
    dice = random.Random(seed)
    for number in range(count):
        sides = SIDES[number % len(SIDES)]
        yield Throw(100_000 + 10_000 * seed + number, sides, 1 if loaded else dice.randint(1, sides))


def overconfident(sides: int, chance: random.Random) -> float:
    """What the untrained model states, on 0.05, 0.15, ..., 0.95: half the time anything, else about half way between
    the truth and certainty. It knows easy from hard a little and is far too sure, as language models are."""
    if chance.random() < 0.5:
        return chance.randrange(10) / 10 + 0.05
    tenth = round((1 + 1 / sides) * 5 - 0.5) + chance.randint(-2, 2)
    return min(max(tenth, 0), 9) / 10 + 0.05


def best_reward() -> float:
    """The expected Brier reward of honest confidences: the mean of q² over the questions, q = 1/N."""
    return sum(1 / n**2 for n in SIDES) / len(SIDES)


def write_questions(path: Path, count: int, seed: int, *, loaded: bool = False) -> None:
    """Question/answer JSONL, as `demur-train data` reads it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ({"question": t.question, "answer": str(t.side)} for t in throws(count, seed, loaded=loaded))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_model(folder: Path, *, seed: int = 0, steps: int = 400) -> Path:
    """A chat model of 150,000 parameters that knows the contract and is far too sure of itself.

    Supervised warm start: legal answers, `overconfident` confidences. Under a minute on two cores.
    """
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _write_tokenizer(folder)
    torch.manual_seed(seed)
    model = _random_model(len(tokenizer))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # matrices this small lose more to waiting for each other than they gain
    if steps:
        _warm_start(model, tokenizer, steps, seed)
    torch.set_num_threads(threads)
    model.generation_config.update(eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
    model.save_pretrained(folder)
    return folder


def _write_tokenizer(folder: Path) -> Any:
    """Byte-level BPE over the task's own text, digits one by one; as many tokens as the model has rows, which verl
    needs for its log-probabilities to agree with vLLM's."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import AutoTokenizer

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(  # type: ignore[assignment]
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    trainer = trainers.BpeTrainer(
        vocab_size=512,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    corpus = [prompts.wrap(t.question, "response") for t in throws(4, seed=0)] + ["user assistant system"]
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": SPECIAL_TOKENS[2],
        "pad_token": SPECIAL_TOKENS[0],
        "clean_up_tokenization_spaces": False,
        "model_max_length": 512,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2))
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    return AutoTokenizer.from_pretrained(folder)


def _random_model(vocabulary: int) -> Any:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=vocabulary,
        hidden_size=64,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,  # the least vLLM has attention kernels for on a CPU
        max_position_embeddings=512,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=SPECIAL_TOKENS.index("<|im_end|>"),
        pad_token_id=SPECIAL_TOKENS.index("<|endoftext|>"),
        dtype="float32",
    )
    return Qwen3ForCausalLM(config)


def _warm_start(model: Any, tokenizer: Any, steps: int, seed: int, batch: int = 32) -> None:
    """Teach the contract: next-token loss on the responses only."""
    import torch
    from tqdm import tqdm

    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps)
    confidence = random.Random(seed)
    examples = throws(steps * batch, seed=seed + 1)
    for _ in tqdm(range(steps), desc="warm start", unit="step"):
        rows = [_example(tokenizer, next(examples), confidence) for _ in range(batch)]
        ids, labels = _pad([r[0] for r in rows], tokenizer.pad_token_id), _pad([r[1] for r in rows], -100)
        loss = model(input_ids=torch.tensor(ids), labels=torch.tensor(labels)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()


def _example(tokenizer: Any, throw: Throw, confidence: random.Random) -> tuple[list[int], list[int]]:
    """Token ids of prompt and response, and the same as labels with the prompt masked."""
    chat = prompts.messages(throw.question, "response")
    prompt = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
    stated = overconfident(throw.sides, confidence)
    response = f"Answer: {throw.side}\nConfidence: {stated:.2f}{tokenizer.eos_token}"
    head, tail = tokenizer.encode(prompt), tokenizer.encode(response)
    return head + tail, [-100] * len(head) + tail


def _pad(rows: list[list[int]], value: int) -> list[list[int]]:
    width = max(map(len, rows))
    return [row + [value] * (width - len(row)) for row in rows]
