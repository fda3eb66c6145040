"""The text of single tokens, by the same incremental decoding that vLLM writes its text with, and of all at once."""

from collections.abc import Sequence
from typing import Any

from demur.engine.base import EngineError

_BROKEN = "Invalid prefix encountered"
"""How the decoder says that bytes it held back will never make a character; vLLM goes on without them, too."""


_NO_PIECES = "this model's tokenizer cannot tell the text of single tokens"
_CONTEXT = 8
"""Tokens before an output that are decoded with it: some decoders drop the space before the very first word."""
_UNFINISHED = 8
"""Tokens at the end of an output that are tried without before it is put together piece by piece."""
_HALF = "\ufffd"
"""What stands for bytes that are no character, or not yet."""


class TokenTexts:
    """Tells token by token what follows `prompt` adds to the text: nothing for the first parts of a character, which
    comes with its last one, and for special tokens unless `shows_special`. Raises EngineError for a tokenizer written
    in Python."""

    def __init__(self, tokenizer: Any, prompt: Sequence[int], *, shows_special: bool = False) -> None:
        from tokenizers.decoders import DecodeStream

        self._backend = getattr(tokenizer, "backend_tokenizer", None)
        if self._backend is None:
            raise EngineError(_NO_PIECES)
        self._skips_special = not shows_special
        self._decoder = DecodeStream(ids=list(prompt), skip_special_tokens=self._skips_special)

    def next(self, token: int) -> str:
        """What the next token adds."""
        from tokenizers.decoders import DecodeStream

        try:
            return self._decoder.step(self._backend, token) or ""
        except Exception as error:  # the library has no class of its own for it
            if not str(error).startswith(_BROKEN):
                raise
            self._decoder = DecodeStream(skip_special_tokens=self._skips_special)
            return self._decoder.step(self._backend, token) or ""


def pieces(
    tokenizer: Any, prompt: Sequence[int], token_ids: Sequence[int], *, shows_special: bool = False
) -> list[str]:
    """What each of `token_ids`, which follow `prompt`, adds to the text. Raises EngineError as TokenTexts does."""
    texts = TokenTexts(tokenizer, prompt, shows_special=shows_special)
    return [texts.next(token) for token in token_ids]


def decodes(tokenizer: Any) -> bool:
    """Whether the functions here can tell its texts: not those of a tokenizer written in Python."""
    return getattr(tokenizer, "backend_tokenizer", None) is not None


def decoded(tokenizer: Any, prompt: Sequence[int], token_ids: Sequence[int], *, shows_special: bool = False) -> str:
    """The text of `token_ids`, which follow `prompt`: what `pieces` add up to, in a fraction of the time.

    Where bytes came that are no characters, some decoders need these pieces. Raises EngineError as TokenTexts does.
    """
    if not decodes(tokenizer):
        raise EngineError(_NO_PIECES)
    backend, skips = tokenizer.backend_tokenizer, not shows_special
    before, said = list(prompt[-_CONTEXT:]), list(token_ids)
    start = backend.decode(before, skip_special_tokens=skips)
    text = backend.decode([*before, *said], skip_special_tokens=skips)
    is_broken = _HALF in text
    if _bytes_stay(backend):
        tries = min(_UNFINISHED, len(said))
        while tries and text.endswith(_HALF):
            said.pop()  # the first parts of a character whose last never came
            text, tries = backend.decode([*before, *said], skip_special_tokens=skips), tries - 1
        is_broken = text.endswith(_HALF)
    if is_broken or start.endswith(_HALF) or not text.startswith(start):
        return "".join(pieces(tokenizer, prompt, token_ids, shows_special=shows_special))
    return text[len(start) :]


def _bytes_stay(backend: Any) -> bool:
    """Whether bytes that are text stay it whatever follows them. Where a decoder takes a run of byte tokens for
    characters only as a whole, one broken byte breaks those before it."""
    from tokenizers.decoders import ByteLevel

    return isinstance(backend.decoder, ByteLevel)
