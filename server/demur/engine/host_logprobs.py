"""Log-probabilities as OpenAI-compatible hosts send them. What cannot be read is left out, and so told by nobody."""

from math import isnan
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta, Struct, field

from demur.engine.base import TokenLogprob

MOST_TOKENS = 1 << 14
"""Tokens of one event: hosts that do not stream send all of a reply in one."""
LONGEST_TOKEN = 1024
"""Characters or bytes."""
MOST_ALTERNATIVES = 64
"""Beside one token: twenty may be asked for, and what a host adds to them is not worth reading."""
LEAST = -1e4
"""OpenAI's hosts write -9999 for what has no probability to speak of."""

_Text = Annotated[str, Meta(max_length=LONGEST_TOKEN)]
_Octets = Annotated[list[Annotated[int, Meta(ge=0, le=255)]], Meta(max_length=LONGEST_TOKEN)]


class _Logprob(Struct, frozen=True, gc=False):
    token: _Text
    logprob: float
    octets: _Octets | None = field(default=None, name="bytes")

    @property
    def text(self) -> bytes:
        """A token may be a part of a character: then only its bytes tell what it is."""
        return self.token.encode(errors="surrogatepass") if self.octets is None else bytes(self.octets)


class _Position(_Logprob, frozen=True, gc=False):
    top_logprobs: Annotated[list[_Logprob], Meta(max_length=MOST_ALTERNATIVES)] | None = None


class _Logprobs(Struct, frozen=True, gc=False):
    content: Annotated[list[_Position], Meta(max_length=MOST_TOKENS)] | None = None


def token_logprobs(sent: Any) -> tuple[TokenLogprob, ...]:
    """The log-probabilities in `logprobs` of one choice of one event, natural logarithms cut to [-10,000, 0]; empty
    where a part of it is not as the protocol has it."""
    try:
        read = msgspec.convert(sent, _Logprobs)
    except msgspec.ValidationError:
        return ()
    found = tuple(_told(position) for position in read.content or ())
    return () if any(isnan(each.logprob) for each in found) else found


def cached_tokens(details: Any, prompt_tokens: int | None) -> int | None:
    """How many tokens of the prompt a host had in its cache; None where it tells nothing that can be."""
    cached = cast("dict[str, Any]", details).get("cached_tokens") if isinstance(details, dict) else None
    return cached if type(cached) is int and 0 <= cached <= (prompt_tokens or 0) else None


def _told(position: _Position) -> TokenLogprob:
    alternatives = tuple((each.token, _bounded(each.logprob)) for each in position.top_logprobs or ())
    return TokenLogprob(position.text, _bounded(position.logprob), alternatives)


def _bounded(logprob: float) -> float:
    """No probability is above 1; rounding may say so."""
    return logprob if isnan(logprob) else min(max(logprob, LEAST), 0.0)
