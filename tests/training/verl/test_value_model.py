"""A critic without flash-attn: what verl's loader does, and what takes its place."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from demur_training import recipes
from demur_training.checks import attention
from demur_training.run import launch
from demur_training.verl import value_model


def configuration(model: Path) -> Any:
    """As `verl.workers.config.HFModelConfig` and the FSDP engine make it for a critic that is to use sdpa."""
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(model, attn_implementation="sdpa")
    config.num_labels = 1
    return config


def test_a_critic_is_loaded_with_the_kernels_of_its_configuration(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    import verl.utils.model as verl_model

    arguments = (str(tiny_model), torch.float32, configuration(tiny_model), False)
    monkeypatch.setattr(verl_model, "is_trl_available", lambda: False)  # its second attempt, with the same attention
    with pytest.raises(RuntimeError) as refused:
        verl_model.load_valuehead_model(*arguments)
    assert re.search("flash.?attention", str(refused.value.__cause__), re.IGNORECASE)
    critic = value_model.load_valuehead_model(*arguments)
    assert critic.config._attn_implementation == "sdpa"
    assert critic(input_ids=torch.tensor([[1, 2, 3]])).logits.shape == (1, 3, 1)


def test_every_process_of_verl_takes_it_where_the_critic_has_no_flash_attention() -> None:
    without = recipes.compose("confidence-brier", "1x8", attention.INSTEAD.split())
    environment = launch.environment(without)
    assert environment["VERL_USE_EXTERNAL_MODULES"] == value_model.PLUGIN
    asks = "import verl, verl.utils.model as m; print(m.load_valuehead_model.__module__)"
    told = subprocess.run(
        [sys.executable, "-c", asks], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.split()[-1] == value_model.__name__
    assert "VERL_USE_EXTERNAL_MODULES" not in launch.environment(recipes.compose("confidence-brier", "1x8"))
