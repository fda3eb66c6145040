"""Child processes that must not outlive this one. vLLM's do: they keep their memory when their parent is killed."""

import subprocess
import sys
from contextlib import suppress

# Standard input ends when the parent is gone, however it went.
_WATCH = """
import os, signal, sys
for pid in sys.stdin.buffer.read().split():
    try:
        os.kill(int(pid), signal.SIGKILL)
    except ProcessLookupError:
        pass
"""


class Reaper:
    """A small process that kills the processes it guards as soon as this one has ended, unless dismissed before."""

    def __init__(self) -> None:
        # A session of its own: Ctrl-C in a terminal must not end the reaper before its parent.
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", _WATCH], stdin=subprocess.PIPE, bufsize=0, start_new_session=True
        )

    def guard(self, pid: int) -> None:
        """Kill the process `pid`, too, once this one has ended."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # somebody killed the reaper
            self._process.stdin.write(f"{pid}\n".encode())

    def dismiss(self) -> None:
        """Leave the processes alone from now on."""
        self._process.kill()
        self._process.communicate()
