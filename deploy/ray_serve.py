"""Replicas of the server on a Ray cluster: `serve deploy deploy/ray_serve.yaml`; KubeRay takes kuberay/rayservice.yaml.

Each replica is the whole server: FastAPI app, admission, engine. Ray Serve starts replicas, spreads requests over them,
replaces those that die and decides how many there are; parallelism inside a replica is vLLM's, through `engine_args`.
"""

import math
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict
from ray import serve
from ray.serve import Application
from ray.serve.config import AutoscalingContext

from demur.api.admission import Admission
from demur.engine.base import EngineRestarting
from demur.observability.logs import configure_logging
from demur.serving.app_loading import open_app
from demur.serving.server import check_exposure
from demur.settings import Settings

EVERYWHERE = "0.0.0.0"
"""Ray's proxies listen, not the server: whatever they are told, others are taken to reach it."""


class Arguments(BaseModel):
    """`args` in the YAML. `settings` are those of `demur serve`, beside DEMUR_... in the environment; `engine_args`
    are vLLM's."""

    model_config = ConfigDict(extra="forbid")

    settings: dict[str, Any] = {}
    engine_args: dict[str, Any] = {}


@serve.deployment
@serve.ingress()
class Replica:
    """One server. Ray Serve sends requests when the engine is loaded."""

    async def __init__(self, settings: Mapping[str, Any], engine_args: Mapping[str, Any]) -> None:
        chosen = Settings(**({"host": EVERYWHERE} | dict(settings)))
        check_exposure(chosen)
        configure_logging(chosen.log_format, chosen.log_level)
        async with AsyncExitStack() as stack:
            self._app = await stack.enter_async_context(open_app(chosen, engine_args))
            self._open = stack.pop_all()

    def __serve_build_asgi_app__(self) -> FastAPI:
        return self._app

    async def check_health(self) -> None:
        """Raises EngineDead, and Ray Serve starts another replica in this one's place.

        One whose engine is being started again stays: that is quicker than another replica.
        """
        with suppress(EngineRestarting):
            await self._app.state.context.health.check()

    def record_autoscaling_stats(self) -> dict[str, float]:
        """What `BySamples` looks at: samples that run or wait here."""
        admission: Admission = self._app.state.context.admission
        return {"samples": float(admission.running.samples + admission.queued.samples)}

    async def __del__(self) -> None:
        if hasattr(self, "_open"):
            await self._open.aclose()


class BySamples:
    """As many replicas as the samples that run or wait need. A request with 64 of them counts as 64."""

    def __init__(self, samples_per_replica: float = 64) -> None:
        self._samples_per_replica = samples_per_replica

    def __call__(self, context: AutoscalingContext) -> tuple[int, dict[str, Any]]:
        samples = sum(((context.aggregated_metrics or {}).get("samples") or {}).values())
        return math.ceil(samples / self._samples_per_replica), {}


def build(arguments: Arguments) -> Application:
    """The application that the YAML names."""
    return Replica.bind(arguments.settings, arguments.engine_args)
