"""Which model a demur server serves, so that a run is not gone on with another one."""

from collections.abc import Mapping
from typing import Any

from demur.core.answers import ContractName
from demur.evaluation.asking.base import BadReply
from demur.evaluation.asking.endpoint import Endpoint, GaveUp
from demur.evaluation.errors import EndpointError, Refused

PATH = "/v1/models"

UNTOLD = frozenset({403, 404, 405})
"""Statuses of a host that answers questions and lists no models."""

Served = dict[str, str | None]
"""name, recipe, base, fingerprint, and the hash of the prompt under the contract of the run."""


async def served_by(endpoint: Endpoint, model: str | None, contract: ContractName) -> Served | None:
    """What the server says of its model; None where it does not say. Raises EndpointError where it cannot be asked."""
    try:
        reply = await endpoint.get(PATH, _listed)
    except Refused as error:
        if error.status in UNTOLD:
            return None
        raise
    except GaveUp as error:
        if error.again:
            raise EndpointError(f"{endpoint.client.base_url}: {error}") from None
        return None
    return _of(reply.body["data"], model, contract)


def _listed(body: Any) -> None:
    if not isinstance(body, Mapping) or not isinstance(body.get("data"), list):
        raise BadReply(f"{PATH} lists no models (is this a demur server? --api chat speaks to others)")


def _of(listed: list[Any], model: str | None, contract: ContractName) -> Served | None:
    entries = [entry for entry in listed if isinstance(entry, Mapping) and model in (None, entry.get("id"))]
    card = entries[0].get("demur") if len(entries) == 1 else None
    if not isinstance(card, Mapping):
        return None
    prompts = card.get("prompts")
    told = {
        "name": entries[0].get("id"),
        "recipe": card.get("recipe"),
        "base": card.get("base"),
        "fingerprint": card.get("fingerprint"),
        "prompt": prompts.get(contract) if isinstance(prompts, Mapping) else None,
    }
    return {name: value if isinstance(value, str) else None for name, value in told.items()}
