"""vLLM in this process, through its AsyncLLM: the model runs in child processes, its tokens arrive here.

Importing this package does not import vLLM, which takes seconds and starts things; `VLLMEngine.start` does.
"""

from demur.engine.vllm.arguments import UnknownEngineArgument
from demur.engine.vllm.critic import VLLMCritic
from demur.engine.vllm.engine import Progress, VLLMEngine

__all__ = ["Progress", "UnknownEngineArgument", "VLLMCritic", "VLLMEngine"]
