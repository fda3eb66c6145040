"""Log-probabilities of the tokens that a person reads: of the text, without answer line, confidence or tags."""

from collections.abc import Sequence

from demur.answering.token_offsets import offset_of
from demur.engine.base import TokenLogprob


def visible_tokens(raw: str, text: str | None, tokens: Sequence[TokenLogprob]) -> tuple[TokenLogprob, ...] | None:
    """The tokens of `raw` that lie in `text`, in order; white space may stand over. Those of thought that a host keeps
    apart come before `raw`, and are none of them.

    None where the engine tells no log-probabilities of the text, and where that is not one stretch of the output, as
    with claims, whose tags are taken out of it.
    """
    at = raw.find(text) if text else -1
    if at < 0 or text is None or not tokens:
        return None
    start = len(raw[:at].encode(errors="surrogatepass"))
    end = start + len(text.encode(errors="surrogatepass"))
    found: list[TokenLogprob] = []
    place = -offset_of(raw.encode(errors="surrogatepass"), tokens, end)
    for token in tokens:
        before, place = place, place + len(token.text)
        first, last = before + _blanks(token.text), place - _blanks(token.text[::-1])
        if start <= first < last <= end:
            found.append(token)
    return tuple(found) if place >= end else None


def _blanks(data: bytes) -> int:
    """White space that bytes begin with."""
    return len(data) - len(data.lstrip())
