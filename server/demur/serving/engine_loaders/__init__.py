"""The engines that `demur serve` can start. A new one is a class like those in `demur.engine`, a module here that loads
it, and one line in ENGINES."""

from demur.serving.engine_loaders.base import EngineLoader, Loaded
from demur.serving.engine_loaders.openai import OpenAILoader
from demur.serving.engine_loaders.scripted import ScriptedLoader
from demur.serving.engine_loaders.vllm import VLLMLoader

__all__ = ["ENGINES", "EngineLoader", "Loaded"]

ENGINES: dict[str, EngineLoader] = {"vllm": VLLMLoader(), "openai": OpenAILoader(), "scripted": ScriptedLoader()}
"""By the value of `--engine`, the default first."""
