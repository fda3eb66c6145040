"""How much a JSON text holds, told without parsing: 350,000 empty lists take longer to parse than anybody may wait."""

import re

MOST_VALUES = 50_000
"""Of a body: lists, mappings and commas. A message of one part has four."""

# Possessive, and an open string runs to the end: every byte is looked at once.
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)


def holds_too_much(body: bytes) -> bool:
    """Whether a JSON text opens or separates more than `MOST_VALUES` values. Linear; about 1 ms for 1 MiB of prose."""
    if _marks(body) <= MOST_VALUES:
        return False
    return _marks(_STRINGS.sub(b"", body)) > MOST_VALUES


def _marks(text: bytes) -> int:
    return sum(map(text.count, (b"[", b"{", b",")))
