"""Outputs cut into chunks anywhere, and what their events fold to."""

from collections.abc import Callable, Sequence
from typing import Any

from demur.answering.events import ClaimGiven, Delta, Event, Reset


def cut_by(sizes: Sequence[int]) -> Callable[[str], list[str]]:
    """A chunker: pieces of these sizes in characters, then the rest."""

    def cut(text: str) -> list[str]:
        pieces, start = [], 0
        for size in sizes:
            pieces.append(text[start : start + size])
            start += size
        return [*pieces, text[start:]]

    return cut


def fold(events: Sequence[Event]) -> tuple[str, list[Any]]:
    """The text and the claims that a client ends with."""
    text, claims = "", list[Any]()
    for event in events:
        match event:
            case Delta():
                text += event.text
            case ClaimGiven():
                assert event.index == len(claims)
                claims.append(event.claim)
            case Reset():
                text, claims = "", []
    return text, claims
