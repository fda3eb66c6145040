"""One vLLM for the tests of this folder."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from demur.engine.vllm import VLLMEngine
from tiny_engine import SharedEngine

pytest.importorskip("vllm")


@pytest.fixture(scope="package")
def shared(tiny_model: Path) -> Iterator[SharedEngine]:
    with asyncio.Runner() as runner:
        shared = SharedEngine(runner, tiny_model)
        yield shared
        shared.close()


@pytest.fixture
def engine(shared: SharedEngine) -> VLLMEngine:
    return shared.engine


@pytest.fixture
def run(shared: SharedEngine):
    return shared.run


@pytest.fixture(scope="package")
def reference(tiny_model: Path):
    """transformers' own tokenizer and greedy continuation of the same folder."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_model), AutoModelForCausalLM.from_pretrained(tiny_model)
