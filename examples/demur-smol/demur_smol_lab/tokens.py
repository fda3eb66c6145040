"""Between text and tokens: prompts with their shared beginning, and the places where a confidence is written."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demur.core.answers import ContractName
from demur.prompts import messages

_MARK = "\x00"


class Vocabulary:
    """A model folder's tokenizer, as far as the light loop needs it. Raises ValueError unless every digit is a token
    of its own: the exact form of the reward goes over single digits."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoTokenizer

        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.end = _end_token(folder)
        self.digits: tuple[int, ...] = tuple(self.encode("0.0123456789")[-10:])
        if self.encode("0.35")[-2:] != [self.digits[3], self.digits[5]] or len(set(self.digits)) != 10:
            raise ValueError(f"{folder}: the tokenizer does not write digits one by one")
        self._line_breaks: dict[int, int] = {}
        newline = len(self.encode("\n"))
        self._stems = (self.encode("\nConfidence: 0.35")[newline:-2], self.encode("<Confidence value=0.35")[-5:-2])

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False)

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Many texts at once, on all cores."""
        return self._tokenizer(list(texts), add_special_tokens=False)["input_ids"] if texts else []

    def decode(self, ids: Sequence[int]) -> str:
        return self._tokenizer.decode(list(ids), skip_special_tokens=False)

    def prompt(self, question: str, contract: ContractName) -> list[int]:
        """The tokens the server would send for this question."""
        return self.encode(self.prompt_text(question, contract))

    def prompt_text(self, question: str, contract: ContractName) -> str:
        """The text that `prompt` cuts into tokens."""
        chat = [dict(message) for message in messages(question, contract)]
        return self._tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)

    def confidences(self, ids: Sequence[int]) -> list[int]:
        """Where the first decimal of each written confidence stands; the second one follows it."""
        ids = list(ids)
        return [
            i
            for i in range(2, len(ids) - 1)
            if ids[i] in self.digits
            and ids[i + 1] in self.digits
            and any(ids[i - len(stem) : i] == stem for stem in self._stems if len(stem) <= i)
        ]

    def lines(self, ids: Sequence[int]) -> list[int]:
        """The number of the line each token stands in; a line break ends its own line."""
        found, line = list[int](), 0
        for token in ids:
            found.append(line)
            line += self._breaks(token)
        return found

    def _breaks(self, token: int) -> int:
        if token not in self._line_breaks:
            self._line_breaks[token] = self.decode([token]).count("\n")
        return self._line_breaks[token]

    def digit(self, token: int) -> int:
        """The digit a digit token writes."""
        return self.digits.index(token)


def _end_token(folder: Path) -> int:
    """The token that ends an answer, by generation_config.json: a tokenizer that came out of a GGUF file may name
    another one."""
    listed = json.loads((folder / "generation_config.json").read_text())["eos_token_id"]
    return listed if isinstance(listed, int) else listed[0]


class Prompts:
    """Prompts of one contract: the tokens all of them begin with, and the rest for each question."""

    def __init__(self, vocabulary: Vocabulary, contract: ContractName) -> None:
        self._vocabulary = vocabulary
        self._contract: ContractName = contract
        one, other = vocabulary.prompt("1", contract), vocabulary.prompt("Who?", contract)
        same = next(i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
        self.prefix = one[:same]
        self._around = vocabulary.prompt_text(_MARK, contract).split(_MARK)

    def rest(self, question: str) -> list[int]:
        """The tokens after the shared beginning. Raises ValueError when the question changes how that is cut."""
        return self.rests([question])[0]

    def rests(self, questions: Sequence[str]) -> list[list[int]]:
        """`rest` of many questions."""
        before, after = self._around
        prompts = self._vocabulary.encode_all([f"{before}{question}{after}" for question in questions])
        return [self._cut(ids, question) for ids, question in zip(prompts, questions, strict=True)]

    def _cut(self, ids: list[int], question: str) -> list[int]:
        if ids[: len(self.prefix)] != self.prefix:
            raise ValueError(f"the question changes the tokens before it: {question[:40]!r}")
        return ids[len(self.prefix) :]
