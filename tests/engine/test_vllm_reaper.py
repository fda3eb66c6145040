"""What a guarded child does when its parent is killed, and when the reaper is dismissed first."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

# Starts a child that would run for long, has it guarded, says its number, and waits for one line.
PARENT = """
import subprocess, sys
from demur.engine.vllm.reaper import Reaper

child = subprocess.Popen(["sleep", "600"])
reaper = Reaper()
reaper.guard(child.pid)
print(child.pid, flush=True)
sys.stdin.readline()
reaper.dismiss()
print("dismissed", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("dismissed", [False, True])
def test_the_child_ends_with_its_parent_unless_the_reaper_was_dismissed(dismissed):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        if dismissed:
            parent.stdin.write("\n")
            parent.stdin.flush()
            assert parent.stdout.readline() == "dismissed\n"
        reapers = [p for p in psutil.Process(parent.pid).children() if p != child]
        assert len(reapers) == (0 if dismissed else 1)
        os.kill(parent.pid, signal.SIGKILL)
    if dismissed:
        assert child.is_running()
        child.kill()
    _, alive = psutil.wait_procs([child, *reapers], timeout=20)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
