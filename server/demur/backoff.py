"""Exponential backoff: how long to wait before something that failed is tried again."""

_MOST_DOUBLINGS = 32
"""Something may fail for days; a longer wait would only overflow."""


def exponential(failures: int, first: float, longest: float) -> float:
    """Seconds to wait after 1, 2, ... failures in a row: `first`, then twice as long each time, up to `longest`."""
    return min(longest, first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS))
