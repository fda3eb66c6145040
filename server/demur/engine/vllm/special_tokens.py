"""Whether a model marks private thought by special tokens, which vLLM leaves out of the text unless it is told not to.

Without its marks a thought reads like the answer. Where a model has such tokens all special tokens stay in the text,
and the reader drops them; everywhere else they are left out, as usual.
"""

from collections.abc import Iterable
from typing import Any

from demur.core.reader import Reader

_CHANNELS = ("thought\n", "analysis<|message|>")
"""What stands behind a mark that opens a channel, where that is one for thought."""


def marks_thought(tokenizer: Any) -> bool:
    """Whether any special token of the tokenizer begins a private thought."""
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    special = {str(token) for token in added if getattr(token, "special", False)}
    return opens_thought(special | set(getattr(tokenizer, "all_special_tokens", ())))


def opens_thought(tokens: Iterable[str]) -> bool:
    """Whether one of the tokens begins a private thought, as the reader tells them apart."""
    names = {token: ("", *_CHANNELS) if "channel" in token else ("",) for token in tokens}
    return any(_is_open(token + behind) for token in names for behind in names[token])


def _is_open(text: str) -> bool:
    reader = Reader("response")
    reader.feed(f"{text}x")
    reader.close()
    return bool(reader.thought_end)
