import os
import subprocess
import sys

import pytest

from demur_training.errors import EnvironmentProblem
from demur_training.verl.cpu import platform
from demur_training.versions import TESTED_VERL, installed, require_tested_verl


def test_the_installed_verl_was_tried() -> None:
    require_tested_verl(installed("verl"))


@pytest.mark.parametrize("found", ["0.9.2", "0.8.0", "0.9.1rc1"])
def test_a_verl_nobody_tried_is_refused(found: str) -> None:
    with pytest.raises(EnvironmentProblem, match=f"verl {found} was never tried.*verl=={TESTED_VERL[0]}"):
        require_tested_verl(found)


def test_an_absent_verl_is_told_how_to_come() -> None:
    with pytest.raises(EnvironmentProblem, match=r"demur-training\[cpu\]"):
        require_tested_verl(installed("no-such-distribution"))


def test_the_environment_makes_every_process_load_the_plugin() -> None:
    settings = platform.environment()
    assert settings["VERL_USE_EXTERNAL_MODULES"] == "demur_training.verl.cpu.plugin"
    assert settings["VERL_PLATFORM"] == "cpu"


def test_verl_knows_the_platform_and_it_asks_for_nothing_a_cpu_lacks() -> None:
    import torch
    from verl.plugin.platform.platform_manager import PlatformRegistry

    from demur_training.verl.cpu.device import PlatformCPU

    assert PlatformRegistry.get("cpu") is PlatformCPU
    platform = PlatformCPU()
    assert platform.communication_backend_name() == "gloo"
    assert not platform.is_ipc_supported()
    module = platform.device_module
    assert (module.device_count(), module.memory_allocated(), module.is_available()) == (1, 0, False)
    assert module.current_stream is torch.cpu.current_stream
    state = module.get_rng_state()
    drawn = torch.rand(3)
    module.set_rng_state(state)
    assert torch.equal(torch.rand(3), drawn)
    with platform.nvtx_range("step"):
        platform.synchronize()


def test_workers_start_beside_a_trl_that_lacks_what_verl_asks_for() -> None:
    asks = "import verl; from verl.models.transformers import monkey_patch; print(monkey_patch.is_trl_available())"
    environment = os.environ | platform.environment()
    told = subprocess.run([sys.executable, "-c", asks], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.split()[-1] == "False"
