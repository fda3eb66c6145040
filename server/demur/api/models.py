"""`GET /v1/models`: what is served here, as OpenAI's clients ask for it."""

import time
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from demur.answering.errors import UnknownModel
from demur.answering.server_defaults import default_threshold, trained_wording
from demur.api.auth import KeyedRoute
from demur.api.calibrators import CalibratorCard, cards
from demur.api.context import Context, Shared
from demur.api.feedback import drift_report
from demur.api.feedback_schemas import DriftReport
from demur.api.openapi import errors
from demur.core.answers import Aggregation, Granularity
from demur.core.contracts import CONTRACTS
from demur.measured import Example, Measured
from demur.prompts import prompt_hash
from demur.settings import Settings

router = APIRouter(tags=["models"], route_class=KeyedRoute)


class ContractCard(BaseModel):
    """How a contract can be asked and what it gives, for clients that offer the choice."""

    granularities: list[Granularity] = Field(description="What can be decided, the default first.")
    states_confidence: bool = Field(description="Whether an answer has a probability, which a threshold can move.")
    states_threshold: bool = Field(description="Whether the model is told the threshold.")


class ModelCard(BaseModel):
    """What this server adds to a model's entry.

    `recipe`, `base`, `prompts` and `fingerprint` tell two models of one name apart: a client that collects answers over
    hours compares them before it goes on.
    """

    calibrated: bool
    contracts: list[str]
    aggregation: Aggregation
    confidence_sources: list[str]
    max_model_len: int | None
    risk_threshold: float = Field(description="Used where a request of this caller names none.")
    min_risk_threshold: float = Field(description="The lowest that this caller may ask with.")
    recipe: str | None = Field(description="What the model was trained with.")
    base: str | None = Field(description="What it was trained from.")
    prompts: dict[str, str] = Field(description="Hash of the prompt's wording under each contract.")
    drift: DriftReport | None = Field(
        default=None,
        exclude_if=lambda drift: drift is None,
        description="The newest drift test, where the server keeps answers and somebody grades them.",
    )
    fingerprint: str = Field(
        description="Changes with configuration, tokenizer and weights (`files:`); `named:` where only the model's "
        "name is known, as for one on another host."
    )
    calibrators: list[CalibratorCard] = Field(description="What confidences are calibrated by, the first that fits.")
    contract_cards: dict[str, ContractCard] = Field(description="What each contract can be asked for.")
    examples: list[Example] = Field(description="Questions that show what the model does.")
    measured: dict[str, Measured] = Field(description="By contract: how far the confidences were found to be true.")


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
async def list_models(request: Request, context: Shared) -> ModelList:
    """The one model that is served."""
    return ModelList(data=[_describe(context, context.settings_for(request))])


@router.get("/v1/models/{model:path}", responses=errors(401, 404, 429))
async def get_model(model: str, request: Request, context: Shared) -> Model:
    """The same by name."""
    served = _describe(context, context.settings_for(request))
    if model != served.id:
        raise UnknownModel(f"no model {model!r:.100}; this server has {served.id!r}", "model")
    return served


def _describe(context: Context, settings: Settings) -> Model:
    answerer, manifest = context.answerer, context.answerer.manifest
    trained = trained_wording(answerer.settings, manifest)
    tests = () if context.feedback is None else context.feedback.drift
    card = ModelCard(
        calibrated=manifest.calibrated,
        contracts=list(manifest.contracts),
        aggregation=manifest.aggregation,
        confidence_sources=list(answerer.confidence_sources),
        max_model_len=answerer.engine.max_model_len,
        risk_threshold=default_threshold(settings),
        min_risk_threshold=settings.min_risk_threshold,
        recipe=manifest.recipe,
        base=manifest.base,
        prompts={name: prompt_hash(name, manifest.domain, trained=trained) for name in manifest.contracts},
        drift=drift_report(tests[0]) if tests else None,
        fingerprint=answerer.fingerprint,
        calibrators=cards(answerer.calibrators, time.time()),
        contract_cards={contract: _contract_card(contract) for contract in manifest.contracts},
        examples=list(manifest.examples),
        measured=dict(manifest.measured),
    )
    return Model(id=manifest.name, demur=card)


def _contract_card(name: str) -> ContractCard:
    contract = CONTRACTS[name]
    granularities: list[Granularity] = ["claims", "response"] if contract.has_claims else ["response"]
    return ContractCard(
        granularities=granularities,
        states_confidence=contract.states_confidence,
        states_threshold=contract.states_threshold,
    )
