"""What supervisors and Prometheus ask for: `/health`, `/ready`, `/metrics`."""

from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
from pydantic import BaseModel

import demur
from demur.api.context import Shared
from demur.api.openapi import errors

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    status: Literal["alive"] = "alive"


class Readiness(BaseModel):
    status: Literal["ready"] = "ready"
    model: str


class Version(BaseModel):
    version: str


@router.get("/version")
async def version() -> Version:
    """The version of the server, as vLLM's clients ask for it."""
    return Version(version=demur.__version__)


@router.get("/ping")
@router.get("/health")
async def health() -> Health:
    """200 as long as the process answers at all."""
    return Health()


@router.get("/ready", responses=errors(429, 503))
async def ready(context: Shared) -> Readiness:
    """200 when the model is loaded and took work when the server last looked, at most seconds ago; else an error."""
    await context.health.raise_unless_ready()
    return Readiness(model=context.answerer.manifest.name)


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(context: Shared) -> Response:
    """Prometheus text format: the server's own metrics, then those of the process and of vLLM inside it."""
    text = generate_latest(context.metrics.registry) + generate_latest(REGISTRY)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
