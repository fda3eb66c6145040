"""`GET /v1/models`: what is served here, as OpenAI's clients ask for it."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from demur.answering import Answerer
from demur.answering.asked import ConfidenceSource
from demur.answering.errors import UnknownModel
from demur.api.callers import KeyedRoute
from demur.api.context import Shared
from demur.api.documented import errors
from demur.core.answers import Aggregation, Contract

router = APIRouter(tags=["models"], route_class=KeyedRoute)


class ModelCard(BaseModel):
    """What this server adds to a model's entry."""

    calibrated: bool
    contracts: list[Contract]
    aggregation: Aggregation
    confidence_sources: list[ConfidenceSource]
    max_model_len: int | None
    risk_threshold: float


class Model(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: Literal["demur"] = "demur"
    demur: ModelCard


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[Model]


@router.get("/v1/models", responses=errors(401, 429))
async def list_models(context: Shared) -> ModelList:
    """The one model that is served."""
    return ModelList(data=[_describe(context.answerer)])


@router.get("/v1/models/{model:path}", responses=errors(401, 404, 429))
async def get_model(model: str, context: Shared) -> Model:
    """The same by name."""
    served = _describe(context.answerer)
    if model != served.id:
        raise UnknownModel(f"no model {model!r:.100}; this server has {served.id!r}", "model")
    return served


def _describe(answerer: Answerer) -> Model:
    manifest = answerer.manifest
    card = ModelCard(
        calibrated=manifest.calibrated,
        contracts=list(manifest.contracts),
        aggregation=manifest.aggregation,
        confidence_sources=list(answerer.confidence_sources),
        max_model_len=answerer.engine.max_model_len,
        risk_threshold=answerer.settings.risk_threshold,
    )
    return Model(id=manifest.name, demur=card)
