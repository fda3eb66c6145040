"""Processor time of other processes, in nanoseconds as the kernel counts it, not in ticks of 10 ms."""

import time
from collections.abc import Iterable
from contextlib import suppress


def seconds_of(pids: Iterable[int]) -> float:
    """All that these processes have taken so far, with what their ended threads took; 0 for one that has ended."""
    return sum(_of_process(pid) for pid in pids)


def _of_process(pid: int) -> float:
    """The clock that `clock_getcpuclockid` of the C library gives for a process, which Python does not offer. The sum
    over the threads of `/proc/PID/task` would fall when one of them ends."""
    with suppress(OSError):
        return time.clock_gettime(~pid << 3 | 2)
    return 0.0
