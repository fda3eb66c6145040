"""Log-probabilities of tokens in OpenAI's form: natural logarithms, with the likeliest alternatives of each token."""

import math
from collections.abc import Sequence

from demur.api.chat.schemas import ChatLogprobs, ChatToken, LikelyToken
from demur.engine.base import TokenLogprob

IMPOSSIBLE = -9999.0
"""What OpenAI's API and vLLM say where JSON has no number: minus infinity."""


def chat_logprobs(tokens: Sequence[TokenLogprob] | None) -> ChatLogprobs | None:
    """`logprobs` of a choice; None where the engine told none, or none were asked for."""
    return None if tokens is None else ChatLogprobs(content=[_token(token) for token in tokens])


def _token(token: TokenLogprob) -> ChatToken:
    likely = [_likely(text.encode(errors="surrogatepass"), logprob) for text, logprob in token.alternatives]
    return ChatToken(**_likely(token.text, token.logprob).model_dump(), top_logprobs=likely)


def _likely(data: bytes, logprob: float) -> LikelyToken:
    known = logprob if math.isfinite(logprob) else IMPOSSIBLE
    return LikelyToken(token=data.decode(errors="replace"), logprob=known, bytes=list(data))
