"""Huge pages for a loaded heap: transparent huge pages (THP) by madvise, for what lives as long as the server.

A server with vLLM holds hundreds of MiB of Python objects, and touches some of each kind with every request. What is no
longer in the processor's cache is found by a walk through the page tables, which inside a virtual machine is a walk
within a walk; with pages of 2 MiB instead of 4 KiB most of it is left out. Linux does so by itself only where THP is
set to "always"; most distributions set "madvise", which leaves it to the program to ask.
"""

import contextlib
import ctypes
import mmap
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from demur.observability.logs import logger

THP = Path("/sys/kernel/mm/transparent_hugepage")
SMAPS = Path("/proc/self/smaps")

MADV_COLLAPSE = 25
"""Of Linux 6.1 and later: make huge pages now, of what is there. Before it, the kernel does so in its own time."""

LEAST_FILLED = 0.5
"""Of a mapping. A thread's stack is 8 MiB of which it uses a few KiB: a huge page would take memory for nothing."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """Private writable memory without a file, as /proc/PID/smaps has it: addresses, and bytes that are in memory."""

    start: int
    end: int
    resident: int

    def whole_pages(self, page: int) -> tuple[int, int]:
        """Its first address and its length in whole pages of `page` bytes; the length is 0 where it has none."""
        start = -(-self.start // page) * page
        return start, max(0, self.end // page * page - start)


def collapse_heap_aside() -> None:
    """`collapse_heap` in a thread of its own, which no request waits for."""
    threading.Thread(target=collapse_heap, name="huge-pages", daemon=True).start()


def collapse_heap() -> int:
    """Put this process's heap into huge pages as far as the kernel has them; returns the bytes that were asked for.

    Does nothing where there are none, where the machine's owner has set them to "never", or where the kernel does not
    tell a process what is in its memory.
    """
    page = page_size()
    if not page:
        return 0
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    asked = 0
    for mapping in own_mappings():
        start, length = mapping.whole_pages(page)
        if length and madvise(start, length, mmap.MADV_HUGEPAGE) == 0:
            madvise(start, length, MADV_COLLAPSE)  # may fail for some pages of many: those stay as they are
            asked += length
    logger.debug("heap in huge pages", extra={"fields": {"mib": asked >> 20}})
    return asked


def page_size() -> int:
    """Bytes of a huge page, 0 where a program may not ask for them."""
    with contextlib.suppress(OSError, ValueError):
        if "[never]" not in (THP / "enabled").read_text():
            return int((THP / "hpage_pmd_size").read_text())
    return 0


def own_mappings() -> list[Mapping]:
    """Of this process, those that are filled; none where /proc is hidden or the kernel was built without smaps."""
    with contextlib.suppress(OSError):
        return list(filled_mappings(SMAPS.read_text()))
    return []


def filled_mappings(smaps: str) -> Iterator[Mapping]:
    """The heap's mappings of which at least `LEAST_FILLED` is in memory, from the text of /proc/PID/smaps."""
    addresses: tuple[int, int] | None = None
    for line in smaps.splitlines():
        words = line.split()
        if "-" in words[0] and not words[0].endswith(":"):  # the first line of a mapping; those below are "Name: value"
            start, _, end = words[0].partition("-")
            anonymous = len(words) < 6 or words[5] == "[heap]" or words[5].startswith("[anon")
            addresses = (int(start, 16), int(end, 16)) if words[1] == "rw-p" and anonymous else None
        elif words[0] == "Rss:" and addresses is not None:
            mapping = Mapping(*addresses, int(words[1]) << 10)
            if mapping.resident >= LEAST_FILLED * (mapping.end - mapping.start):
                yield mapping
