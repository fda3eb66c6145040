"""Processor time of other processes: what the kernel counts of each thread in nanoseconds, not ticks of 10 ms."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def seconds_of(pids: Iterable[int]) -> float:
    """Of the threads that these processes have now. What ended threads took is lost, so compare two readings of
    processes whose threads stay."""
    return sum(_of_threads(pid) for pid in pids) / 1e9


def _of_threads(pid: int) -> int:
    total = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # a thread that has just ended
            total += int(path.read_text().split()[0])
    return total
