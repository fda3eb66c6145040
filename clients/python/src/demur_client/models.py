"""The models that a server has: `client.models`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote

import httpx

from . import decoding
from .decoding import Fields
from .request import Request

PATH = "v1/models"


@dataclass(frozen=True, slots=True)
class Model:
    """One served model. `risk_threshold`, in [0, 1], is that of a request that names none; `details` is all that the
    server tells of the model beside its name."""

    id: str
    calibrated: bool
    contracts: tuple[str, ...]
    risk_threshold: float
    details: dict[str, Any]


class Models:
    """Asks for the models that a server has, as in OpenAI's client. Methods raise a DemurError."""

    def __init__(self, send: Callable[[Request], httpx.Response]) -> None:
        self._send = send

    def list(self) -> tuple[Model, ...]:
        """All models that the server has."""
        return _listed(self._send(Request(path=PATH)))

    def retrieve(self, model: str) -> Model:
        """One model by its name. Raises NotFoundError where the server has none of that name."""
        return _model(decoding.fields_of(self._send(_one(model))))


class AsyncModels:
    """Asks for the models that a server has, from asyncio code. Methods raise a DemurError."""

    def __init__(self, send: Callable[[Request], Awaitable[httpx.Response]]) -> None:
        self._send = send

    async def list(self) -> tuple[Model, ...]:
        """All models that the server has."""
        return _listed(await self._send(Request(path=PATH)))

    async def retrieve(self, model: str) -> Model:
        """One model by its name. Raises NotFoundError where the server has none of that name."""
        return _model(decoding.fields_of(await self._send(_one(model))))


def _one(model: str) -> Request:
    return Request(path=f"{PATH}/{quote(model)}")


def _listed(response: httpx.Response) -> tuple[Model, ...]:
    return tuple(_model(each) for each in decoding.fields_of(response).each("data"))


def _model(fields: Fields) -> Model:
    card = fields.inner("demur") or Fields({}, "demur")
    return Model(
        id=fields.get("id", str),
        calibrated=card.get("calibrated", bool),
        contracts=card.all("contracts", str),
        risk_threshold=card.get("risk_threshold", float),
        details=cast("dict[str, Any]", fields.get("demur", dict)),
    )
