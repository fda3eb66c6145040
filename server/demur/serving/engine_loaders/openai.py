"""`--engine openai`: hosts that speak OpenAI's protocol, such as vLLM's own server."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from demur.engine.base import EngineError
from demur.fingerprint import of_name
from demur.manifest import Manifest, ManifestError
from demur.serving.engine_loaders.base import Loaded
from demur.serving.errors import CannotLoad

if TYPE_CHECKING:
    from demur.engine.upstreams import Upstream
    from demur.settings import Settings, UpstreamSettings


class OpenAILoader:
    """Loads the engine that passes samples on to OpenAI-compatible hosts."""

    takes_arguments = False
    compares_formulas = True

    async def load(self, settings: "Settings", arguments: Mapping[str, Any]) -> Loaded:
        """Ask the upstreams what they serve. Without a manifest the model counts as not calibrated."""
        from demur.engine.openai import OpenAIEngine
        from demur.engine.upstreams import find_served

        if not settings.upstreams:
            raise CannotLoad("--engine openai needs at least one --upstream URL")
        upstreams = [_upstream(upstream, settings) for upstream in settings.upstreams]
        try:
            served = await find_served(upstreams, settings.model)
            manifest = (
                Manifest.uncalibrated(served.model) if settings.manifest is None else Manifest.read(settings.manifest)
            )
        except (EngineError, ManifestError) as error:
            raise CannotLoad(str(error)) from None
        except OSError as error:
            raise CannotLoad(f"cannot read {settings.manifest}: {error.strerror}") from None
        forces, forced = served.structured_outputs, settings.upstream_structured_outputs
        goes_on, told = served.continues, settings.upstream_continues
        engine = OpenAIEngine(
            upstreams,
            served.model,
            structured_outputs=forces if forced is None else forced,
            continues=goes_on if told is None else told,
            stream_interval=served.is_vllm,
            max_model_len=served.max_model_len,
        )
        return Loaded(engine, manifest, fingerprint=of_name(served.model, manifest))


def _upstream(described: "UpstreamSettings", settings: "Settings") -> "Upstream":
    from demur.engine.upstreams import Upstream

    key = settings.upstream_key.get_secret_value() if settings.upstream_key is not None else None
    if described.key_env is not None and (key := os.environ.get(described.key_env)) is None:
        raise CannotLoad(f"the key for {described.url} should be in {described.key_env}, which is not set")
    return Upstream(described.url, key, described.limit or settings.upstream_limit)
