"""The text of single tokens, by the same incremental decoding that vLLM writes its text with."""

from collections.abc import Sequence
from typing import Any

from demur.engine.base import EngineError

_BROKEN = "Invalid prefix encountered"
"""How the decoder says that bytes it held back will never make a character; vLLM goes on without them, too."""


def pieces(tokenizer: Any, prompt: Sequence[int], token_ids: Sequence[int]) -> list[str]:
    """What each of `token_ids`, which follow `prompt`, adds to the text: nothing for special tokens and for the first
    parts of a character, which comes with its last one. Raises EngineError for a tokenizer written in Python."""
    from tokenizers.decoders import DecodeStream

    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise EngineError("this model's tokenizer cannot tell the text of single tokens")
    decoder, found = DecodeStream(ids=list(prompt), skip_special_tokens=True), list[str]()
    for token in token_ids:
        try:
            piece = decoder.step(backend, token)
        except Exception as error:  # the library has no class of its own for it
            if not str(error).startswith(_BROKEN):
                raise
            decoder = DecodeStream(skip_special_tokens=True)
            piece = decoder.step(backend, token)
        found.append(piece or "")
    return found
