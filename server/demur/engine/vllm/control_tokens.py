"""Text of a conversation as text: what a caller writes never becomes a control token of the chat template.

vLLM renders the template and tokenizes template and messages in one go, so that a message with `<|im_end|>` in it ends
its turn, and the rest of it may pose as the system. Here each such spelling is taken out before the template is
rendered and put back after it as the tokens of its letters: the model reads the text that was sent. A conversation
without one, which is every ordinary one, is tokenized as ever.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from demur.engine.base import Message

_PRIVATE = range(0xF0000, 0xFFFFE)
"""Code points without a meaning: one that is not in the conversation marks where something was taken out."""


@dataclass(frozen=True, slots=True)
class Marked:
    """Messages with `mark` in the place of each of `spellings`, in order."""

    messages: tuple[Message, ...]
    mark: str
    spellings: tuple[str, ...]


class ControlTokens:
    """The tokens that were added to a tokenizer's vocabulary, special or not, unless they are mere space.

    Spellings are looked for as they are: a normalizer that makes a control token of another text is not reckoned with.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        added = {str(token): number for number, token in getattr(tokenizer, "added_tokens_decoder", {}).items()}
        self._spelled = {text: number for text, number in added.items() if text.strip()}
        longest_first = sorted(self._spelled, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) if longest_first else "(?!)")

    @cached_property
    def _own(self) -> Any:
        """A copy: vLLM changes settings of its own in another thread, and would find it in use."""
        from tokenizers import Tokenizer

        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise ValueError("this model's tokenizer is written in Python, and cannot spell out text piece by piece")
        own = Tokenizer.from_str(backend.to_str())
        own.no_truncation()
        own.no_padding()
        return own

    def take_out(self, messages: Sequence[Message]) -> Marked | None:
        """None when there is nothing to take out."""
        spellings = [text for message in messages for text in self._pattern.findall(message["content"])]
        if not spellings:
            return None
        used = {char for message in messages for char in message["content"]}
        mark = next(char for char in map(chr, _PRIVATE) if char not in used)
        clean = (Message(role=m["role"], content=self._pattern.sub(mark, m["content"])) for m in messages)
        return Marked(tuple(clean), mark, tuple(spellings))

    def encode(self, rendered: object, marked: Marked) -> list[int]:
        """Tokens of the rendered template with the spellings back in their places, as letters.

        Raises ValueError where the template did not keep each mark once, so that none is taken for another.
        """
        parts = rendered.split(marked.mark) if isinstance(rendered, str) else []
        if len(parts) != len(marked.spellings) + 1:
            raise ValueError("a message holds a control token of this model, and its template drops or repeats it")
        token_ids = self._tokens(parts[0])
        for spelling, part in zip(marked.spellings, parts[1:], strict=True):
            token_ids += self._letters(spelling) + self._tokens(part)
        return token_ids

    def tokens(self, text: str) -> tuple[int, ...]:
        """Text of this program, control tokens in it as such; never for what a caller wrote."""
        return tuple(self._tokens(text))

    def text(self, token_ids: Sequence[int]) -> str:
        """What tokens stand for, control tokens spelled out."""
        return self._own.decode(list(token_ids), skip_special_tokens=False)

    def _letters(self, spelling: str) -> list[int]:
        controls = set(self._spelled.values())
        for parts in ((spelling[:1], spelling[1:]), tuple(spelling)):
            token_ids = [number for part in parts for number in self._tokens(part)]
            if controls.isdisjoint(token_ids):
                return token_ids
        raise ValueError(f"the control token {spelling!r} of this model cannot be written as text")

    def _tokens(self, text: str) -> list[int]:
        return self._own.encode(text, add_special_tokens=False).ids if text else []
