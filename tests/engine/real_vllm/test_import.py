"""What importing vLLM leaves behind."""

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(400)]

IMPORTED = """
import gc, sys
from demur.engine.vllm.startup import import_vllm
{before}
import_vllm()
frozen = gc.get_freeze_count()
import_vllm()  # a second engine's: what was made since then stays the collector's
assert gc.get_freeze_count() <= frozen
print("vllm.v1.engine.async_llm" in sys.modules, gc.isenabled(), frozen > 100_000)
"""


@pytest.mark.parametrize(("before", "enabled"), [("", "True"), ("gc.disable()", "False")])
def test_the_garbage_collector_is_as_it_was_and_leaves_what_was_imported_alone(before: str, enabled: str) -> None:
    command = [sys.executable, "-c", IMPORTED.format(before=before)]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    assert said.split() == ["True", enabled, "True"]


def test_settings_are_looked_up_once_an_engine_runs(engine: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from vllm import envs

    assert not envs.VLLM_COMPUTE_NANS_IN_LOGITS
    monkeypatch.setenv("VLLM_COMPUTE_NANS_IN_LOGITS", "1")
    assert not envs.VLLM_COMPUTE_NANS_IN_LOGITS
