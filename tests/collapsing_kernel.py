"""Whether this kernel makes huge pages at once when it is asked to (MADV_COLLAPSE, of Linux 6.1)."""

import platform

import pytest

from demur.serving.huge_pages import page_size


def _release() -> tuple[int, ...]:
    return tuple(int(part) for part in platform.release().split(".")[:2] if part.isdigit())


needs_huge_pages = pytest.mark.skipif(
    not page_size() or _release() < (6, 1), reason="no huge pages on request: set to never, or a kernel before 6.1"
)
