"""What vLLM's worker takes of the weights that verl sends."""

import importlib
import importlib.metadata
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from demur_training import recipes
from demur_training.verl.cpu import platform


@pytest.fixture
def extension():
    """verl's own class cannot be imported before it is told where vLLM is."""
    version = importlib.metadata.version
    platform._name_vllm()
    from demur_training.verl import rollout_worker

    yield rollout_worker
    importlib.metadata.version = version


class Tied(nn.Module):
    def __init__(self, tied: bool) -> None:
        super().__init__()
        self.embedding, self.layer, self.head = nn.Embedding(4, 2), nn.Linear(2, 2), nn.Linear(2, 4, bias=False)
        if tied:
            self.head.weight = self.embedding.weight


@pytest.mark.parametrize(("tied", "taken"), [(True, ["layer.weight"]), (False, ["layer.weight", "head.weight"])])
def test_a_tied_weight_is_left_out_under_its_second_name(tied, taken, extension):
    given = []

    class Recorder(extension.RolloutWorkerExtension.__base__):
        def _update_weights(self, weights, *_):
            given.extend(weights)

    class Worker(extension.RolloutWorkerExtension, Recorder):
        """Hands its weights on to the recorder, which stands in the order of methods where verl's class would."""

    worker = object.__new__(Worker)
    worker.model_runner = SimpleNamespace(model=Tied(tied))
    bucket = [("layer.weight", torch.ones(2, 2)), ("head.weight", torch.ones(4, 2))]
    worker._update_weights(bucket, None, False)
    assert [name for name, _ in given] == taken


def test_a_name_is_second_only_to_the_same_weight(extension):
    assert extension.second_names(Tied(True)) == {"head.weight"}
    assert extension.second_names(Tied(False)) == set()


@pytest.mark.parametrize("scale", recipes.scales())
def test_every_scale_generates_with_it(scale, extension):
    named = recipes.compose("ppo", scale).actor_rollout_ref.rollout.engine_kwargs.vllm.worker_extension_cls
    module, _, name = named.rpartition(".")
    assert issubclass(getattr(importlib.import_module(module), name), extension.RolloutWorkerExtension)
