"""Child processes that must not outlive this one. vLLM's do: they keep their memory when their parent is killed."""

import subprocess
import sys
from collections.abc import Iterable

# Standard input ends when the parent is gone, however it went.
_WATCH = """
import os, signal, sys
sys.stdin.buffer.read()
for pid in sys.argv[1:]:
    try:
        os.kill(int(pid), signal.SIGKILL)
    except ProcessLookupError:
        pass
"""


class Reaper:
    """A small process that kills the processes `pids` as soon as this one has ended, unless dismissed before."""

    def __init__(self, pids: Iterable[int]) -> None:
        # A session of its own: Ctrl-C in a terminal must not end the reaper before its parent.
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", _WATCH, *map(str, pids)], stdin=subprocess.PIPE, start_new_session=True
        )

    def dismiss(self) -> None:
        """Leave the processes alone from now on."""
        self._process.kill()
        self._process.communicate()
