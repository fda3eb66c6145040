"""Standard error that never makes whoever writes to it wait: this process, libraries in C, and its children.

The log has a writer of its own; but an engine's process that says a word into a pipe which nobody reads any more stops
there, and one that is started again never comes up.
"""

import faulthandler
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from demur.log_writer import DRAIN_TIMEOUT, LogWriter

LONGEST_LINE = 1 << 16
"""Bytes; longer ones are cut in two."""


@contextmanager
def never_waited_for(log: LogWriter) -> Iterator[None]:
    """Pass on through `log` what is written to file descriptor 2 meanwhile. A terminal stays as it is, for progress
    bars; there nobody but the person in front of it can make it stop."""
    if os.isatty(2):
        yield
        return
    original = os.dup(2)
    reads, writes = os.pipe()
    os.dup2(writes, 2)
    os.close(writes)
    faulthandler.enable(original)  # what a crash says last has nobody left to pass it on
    passing = threading.Thread(target=_pass_on, args=(reads, log.say), name="stderr", daemon=True)
    passing.start()
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(original, 2)
        faulthandler.disable()
        os.close(original)
        passing.join(DRAIN_TIMEOUT)  # it ends with the last child that could still write


def _pass_on(reads: int, say: Callable[[str], None]) -> None:
    rest = b""
    with open(reads, "rb", buffering=0) as pipe:
        while piece := pipe.read(LONGEST_LINE):
            *lines, rest = (rest + piece).split(b"\n")
            if len(rest) >= LONGEST_LINE:
                lines, rest = [*lines, rest], b""
            for line in lines:
                say(line.decode("utf-8", "backslashreplace"))
    if rest:
        say(rest.decode("utf-8", "backslashreplace"))
