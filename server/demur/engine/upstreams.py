"""What OpenAI-compatible hosts say about the model behind them, asked once before the first question."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import openai
from openai import AsyncOpenAI

from demur.engine.base import EngineError

ANSWER_WITHIN = 5.0
"""Seconds."""
Cards = dict[str, dict[str, Any]]
"""What is said about each model, by its name."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """One host. `base_url` ends where `/chat/completions` begins, usually in `/v1`."""

    base_url: str
    api_key: str | None = None
    limit: int = 256
    """Samples in flight at once."""

    @property
    def name(self) -> str:
        """Host and port, without what a URL may hold besides."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


@dataclass(frozen=True, slots=True)
class Served:
    """One model as the hosts describe it. `max_model_len` is the shortest of theirs, None where none says."""

    model: str
    max_model_len: int | None
    structured_outputs: bool
    """Whether all of them are vLLM, which can force an output form."""


def client_of(upstream: Upstream, timeout: openai.Timeout | float) -> AsyncOpenAI:
    """A connection pool; the caller closes it. A key is required by the library even where the host wants none."""
    key = upstream.api_key or "none"
    return AsyncOpenAI(base_url=upstream.base_url, api_key=key, max_retries=0, timeout=timeout)


async def find_served(upstreams: Sequence[Upstream], model: str | None) -> Served:
    """The model of that name; without a name, the only one there is. Raises EngineError.

    Hosts that do not answer now are left out, as long as one does.
    """
    found = [cards for cards in await asyncio.gather(*map(_cards, upstreams)) if cards is not None]
    if not found:
        raise EngineError(f"no upstream answers: {', '.join(upstream.name for upstream in upstreams)}")
    named = {name for cards in found for name in cards}
    if model is None and len(named) != 1:
        raise EngineError(f"the upstreams serve {', '.join(sorted(named)) or 'no model'}: name one with --model")
    model = model or named.pop()
    described = [cards[model] for cards in found if model in cards]
    lengths = [card["max_model_len"] for card in described if isinstance(card.get("max_model_len"), int)]
    return Served(
        model=model,
        max_model_len=min(lengths, default=None),
        structured_outputs=bool(described) and all(card.get("owned_by") == "vllm" for card in described),
    )


async def model_cards(client: AsyncOpenAI) -> Cards | None:
    """What `/models` lists, by name; None where nobody answers, or not in the protocol."""
    try:
        # Not by `models.list`, which takes the form of what comes back for granted.
        listed = await client.get("/models", cast_to=object, options={"timeout": ANSWER_WITHIN})
    except (openai.APIError, ValueError):
        return None
    cards = listed.get("data") if isinstance(listed, dict) else None
    return {card["id"]: card for card in cards} if isinstance(cards, list) and all(map(_is_card, cards)) else None


def _is_card(card: Any) -> bool:
    return isinstance(card, dict) and isinstance(card.get("id"), str)


async def _cards(upstream: Upstream) -> Cards | None:
    async with client_of(upstream, ANSWER_WITHIN) as client:
        return await model_cards(client)
