"""`--engine scripted`: a demo that needs no model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from demur.core.contracts import CONTRACTS
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.serving.engine_loaders.base import Loaded

if TYPE_CHECKING:
    from demur.settings import Settings

DELAY = 0.03
"""Seconds between two words: about as fast as a person reads along."""


class ScriptedLoader:
    """Loads the scripted engine, which answers without a model: for demos and tests."""

    takes_arguments = True
    compares_formulas = False

    async def load(self, settings: "Settings", arguments: Mapping[str, Any]) -> Loaded:
        known = {"domain": "general"}  # it knows the prompts that models are trained with
        manifest = Manifest(name="demur-scripted", contracts=tuple(CONTRACTS), training=known)
        return Loaded(ScriptedEngine(delay=DELAY), manifest)
