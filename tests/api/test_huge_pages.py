"""What a loaded server holds is put into huge pages: which memory, and that the kernel really does so."""

import ctypes
import mmap
from pathlib import Path

import pytest

from collapsing_kernel import needs_huge_pages
from demur.serving import huge_pages
from demur.serving.huge_pages import Mapping, collapse_heap, filled_mappings, page_size

MIB = 1 << 20
SMAPS = """\
55d0c0a00000-55d0c1200000 rw-p 00000000 00:00 0                          [heap]
Size:               8192 kB
KernelPageSize:        4 kB
Rss:                8000 kB
VmFlags: rd wr mr mw me ac
7f0000000000-7f0000800000 rw-p 00000000 00:00 0
Size:               8192 kB
Rss:                 100 kB
7f1000100000-7f1000900000 rw-p 00000000 00:00 0                          [anon:arena]
Size:               8192 kB
Rss:                4096 kB
7f2000000000-7f2000800000 rw-p 00001000 fe:00 4711                       /usr/lib/libtorch - cpu.so
Rss:                8192 kB
7f3000000000-7f3000800000 rw-s 00000000 00:01 12                         /dev/shm/queue
Rss:                8192 kB
7f4000000000-7f4000800000 r--p 00000000 00:00 0
Rss:                8192 kB
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]
Rss:                 132 kB
"""


def test_the_filled_part_of_the_heap_is_found() -> None:
    """Not a thread's stack, which is nearly empty, nor files, shared memory, or what cannot be written."""
    assert list(filled_mappings(SMAPS)) == [
        Mapping(0x55D0C0A00000, 0x55D0C1200000, 8000 << 10),
        Mapping(0x7F1000100000, 0x7F1000900000, 4 * MIB),
    ]


@pytest.mark.parametrize(
    ("start", "end", "whole"),
    [
        (4 * MIB, 8 * MIB, (4 * MIB, 4 * MIB)),
        (4 * MIB + 4096, 9 * MIB, (6 * MIB, 2 * MIB)),
        (4 * MIB + 4096, 6 * MIB, (6 * MIB, 0)),
        (4 * MIB + 4096, 5 * MIB, (6 * MIB, 0)),
    ],
)
def test_only_whole_pages_of_a_mapping_are_asked_for(start: int, end: int, whole: tuple[int, int]) -> None:
    assert Mapping(start, end, 0).whole_pages(2 * MIB) == whole


@needs_huge_pages
def test_filled_memory_comes_into_huge_pages_and_keeps_what_it_holds() -> None:
    size = 8 * page_size()
    with mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        for at in range(0, size, 4096):  # small pages, one by one
            memory[at : at + 4] = at.to_bytes(4, "little")
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        assert collapse_heap() >= size - page_size()
        assert _huge_bytes(address) >= size - 2 * page_size()
        assert all(int.from_bytes(memory[at : at + 4], "little") == at for at in range(0, size, 4096))


@pytest.mark.parametrize("enabled", ["always madvise [never]\n", None])
def test_nothing_is_asked_for_where_the_owner_of_the_machine_wants_none(
    enabled: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if enabled is not None:
        (tmp_path / "enabled").write_text(enabled)
        (tmp_path / "hpage_pmd_size").write_text("2097152\n")
    monkeypatch.setattr(huge_pages, "THP", tmp_path)
    assert collapse_heap() == 0


@needs_huge_pages
def test_a_kernel_that_hides_what_is_in_memory_is_asked_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "enabled").write_text("always [madvise] never\n")
    (tmp_path / "hpage_pmd_size").write_text("2097152\n")
    monkeypatch.setattr(huge_pages, "THP", tmp_path)
    assert collapse_heap() > 0
    monkeypatch.setattr(huge_pages, "SMAPS", tmp_path / "none")
    assert collapse_heap() == 0


def _huge_bytes(address: int) -> int:
    """Of the mapping that holds `address`."""
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            start, _, end = words[0].partition("-")
            inside = int(start, 16) <= address < int(end, 16)
        elif inside and words[0] == "AnonHugePages:":
            return int(words[1]) << 10
    return 0
