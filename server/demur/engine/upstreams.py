"""What OpenAI-compatible hosts say about the model behind them, asked once before the first question."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from demur.engine.base import EngineError
from demur.engine.host_client import HostClient, translated
from demur.http_client import one_line, read_body

ANSWER_WITHIN = 5.0
"""Seconds for the whole list of models."""
MOST_LISTED = 2 << 20
"""Bytes of it; a hosted service with hundreds of models needs a third of that."""
MOST_CARDS = 10_000
LONGEST_CONTEXT = 10**9
"""Tokens that a model may be said to take at most."""
NAMES_SHOWN = 10


class Card(BaseModel):
    """What a host says of one model."""

    model_config = ConfigDict(strict=True, frozen=True)

    id: Annotated[str, Field(min_length=1, max_length=256)]
    owned_by: Any = None
    max_model_len: Annotated[int, Field(gt=0, le=LONGEST_CONTEXT)] | None = None


class Listed(BaseModel):
    """The reply of `/models`."""

    model_config = ConfigDict(strict=True, frozen=True)

    data: Annotated[list[Card], Field(max_length=MOST_CARDS)]


Cards = dict[str, Card]
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

    @property
    def is_vllm(self) -> bool:
        """Whether all of them are."""
        return self.structured_outputs

    @property
    def continues(self) -> bool:
        """Whether all of them can go on with a reply so far: vLLM can."""
        return self.is_vllm


def client_of(upstream: Upstream, *, connect: float = ANSWER_WITHIN, read: float = ANSWER_WITHIN) -> HostClient:
    """A connection pool, which the caller closes. Times are in seconds.

    Raises EngineError for an address or a key that cannot be sent.
    """
    key = upstream.api_key or None
    if key is not None and not (key.isascii() and key.isprintable()):
        raise EngineError(f"the key for {upstream.name} holds characters that a header cannot")
    try:
        return HostClient(upstream.base_url, key, connect=connect, read=read)
    except ValueError as error:
        raise EngineError(f"the upstream {upstream.name} is no address: {one_line(error)}") from None


async def find_served(upstreams: Sequence[Upstream], model: str | None) -> Served:
    """The model of that name; without a name, the only one there is. Raises EngineError.

    Hosts that do not answer now are left out, as long as one does.
    """
    found = [cards for cards in await asyncio.gather(*map(_cards, upstreams)) if cards is not None]
    if not found:
        raise EngineError(f"no upstream answers: {', '.join(upstream.name for upstream in upstreams)}")
    named = {name for cards in found for name in cards}
    if model is None and len(named) != 1:
        raise EngineError(f"the upstreams serve {_some_of(named)}: name one with --model")
    model = model or named.pop()
    described = [cards[model] for cards in found if model in cards]
    lengths = [card.max_model_len for card in described if card.max_model_len is not None]
    return Served(
        model=model,
        max_model_len=min(lengths, default=None),
        structured_outputs=bool(described) and all(card.owned_by == "vllm" for card in described),
    )


def _some_of(names: set[str]) -> str:
    shown = sorted(names)[:NAMES_SHOWN]
    left = len(names) - len(shown)
    return (", ".join(shown) or "no model") + (f" and {left} more" if left else "")


async def model_cards(client: HostClient) -> Cards | None:
    """What `/models` lists, by name; None where nobody answers, or not in the protocol."""
    try:
        async with asyncio.timeout(ANSWER_WITHIN), client.reply("GET", "models") as response:
            if response.status != 200:
                return None
            with translated():
                body = await read_body(response.content.iter_any(), response.headers, MOST_LISTED)
                listed = Listed.model_validate_json(body)
    except (EngineError, TimeoutError):
        return None
    return {card.id: card for card in listed.data} if all(card.id.isprintable() for card in listed.data) else None


async def _cards(upstream: Upstream) -> Cards | None:
    async with aclosing(client_of(upstream)) as client:
        return await model_cards(client)
