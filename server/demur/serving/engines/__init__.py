"""The engines that `demur serve` can start. A new one is one module and one line here."""

from demur.serving.engines.base import EngineLoader, Loaded
from demur.serving.engines.openai import OpenAILoader
from demur.serving.engines.scripted import ScriptedLoader
from demur.serving.engines.vllm import VLLMLoader

__all__ = ["ENGINES", "EngineLoader", "Loaded"]

ENGINES: dict[str, EngineLoader] = {"vllm": VLLMLoader(), "openai": OpenAILoader(), "scripted": ScriptedLoader()}
"""By the value of `--engine`, the default first."""
