"""The address of a scripted host: a test module says which, by its fixture `host`."""

from collections.abc import Iterator
from typing import Any

import pytest

from live import serving


@pytest.fixture
def address(host: Any) -> Iterator[str]:
    with serving(host.app()) as where:
        yield where
