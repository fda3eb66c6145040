"""What the engine refuses before it starts."""

import re
from pathlib import Path

import pytest

from demur.engine.base import EngineError
from demur.engine.vllm import UnknownEngineArgument, VLLMEngine

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(400)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"tensor_paralel_size": 2}, "no engine argument tensor_paralel_size; did you mean tensor_parallel_size?"),
        ({"colour": "red"}, "no engine argument colour"),
    ],
)
def test_an_unknown_engine_argument_is_named(run, tiny_model, arguments, said):
    with pytest.raises(UnknownEngineArgument, match=re.escape(said)):
        run(VLLMEngine.start(tiny_model, **arguments))


def test_a_wrong_value_is_named_with_its_argument(run, tiny_model):
    with pytest.raises(EngineError, match="tensor_parallel_size: Input should be a valid integer"):
        run(VLLMEngine.start(tiny_model, tensor_parallel_size="many"))


@pytest.mark.parametrize("model", ["./nowhere", "/nowhere/at/all", "~/nowhere", Path("nowhere")])
def test_a_folder_that_is_not_there_is_not_looked_for_on_the_hub(run, model):
    with pytest.raises(EngineError, match=r"there is no model folder .*nowhere"):
        run(VLLMEngine.start(model))
