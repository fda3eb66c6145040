"""Where the text of an output stands in what its tokens wrote."""

from collections.abc import Sequence

from demur.engine.base import TokenLogprob


def offset_of(text: bytes, tokens: Sequence[TokenLogprob], end: int) -> int:
    """The place of `text` in what the tokens wrote, in bytes; past all of it where they did not write it.

    They may have written more, such as an end token or thought that a host keeps apart, and less, where white space at
    the end is no token of its own: past `end` nothing matters.
    """
    written = b"".join(token.text for token in tokens)
    at = written.rfind(text)
    if at < 0 and text.startswith(written) and len(written) >= end:
        return 0
    return at if at >= 0 else len(written) + 1
