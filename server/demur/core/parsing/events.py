"""What a reader tells while the text is still arriving."""

from collections.abc import Iterable
from dataclasses import dataclass

from demur.core.answers import Claim, FieldValue
from demur.core.fields.reading import plain


@dataclass(frozen=True, slots=True)
class Delta:
    """More of the text a person reads."""

    text: str


@dataclass(frozen=True, slots=True)
class ClaimRead:
    """A claim has closed; its span lies within the text told so far."""

    index: int
    claim: Claim


@dataclass(frozen=True, slots=True)
class FieldRead:
    """More of a JSON answer: a value, with the JSON between it and the one before."""

    field: FieldValue

    @property
    def text(self) -> str:
        return plain([self.field])


@dataclass(frozen=True, slots=True)
class Reset:
    """All text and claims told so far are void: `solution_restarted` or `reasoning_ended`."""

    reason: str


Event = Delta | ClaimRead | FieldRead | Reset


def fold(events: Iterable[Event]) -> tuple[str, list[Claim]]:
    """What somebody who followed the events has on the screen: text and claims."""
    text: list[str] = []
    claims: list[Claim] = []
    for event in events:
        match event:
            case Delta() | FieldRead():
                text.append(event.text)
            case ClaimRead():
                claims.append(event.claim)
            case Reset():
                text.clear()
                claims.clear()
    return "".join(text), claims


def merge_deltas(events: Iterable[Event]) -> list[Event]:
    """Events with each run of adjacent text deltas merged into one; `fold` gives the same for both."""
    merged, text = list[Event](), list[str]()
    for event in events:
        if isinstance(event, Delta):
            text.append(event.text)
            continue
        if text:
            merged.append(Delta("".join(text)))
            text.clear()
        merged.append(event)
    return [*merged, Delta("".join(text))] if text else merged


class Visible:
    """The text a person reads, growing: no white space at its ends, none told before it is known to stay."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._space: list[str] = []  # in pieces: one string that grows would be copied with each of them
        self._space_length = 0
        self.length = 0

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def at_gap(self) -> bool:
        """Whether the next character would not stick to the one before it."""
        return self.length == 0 or bool(self._space)

    def write(self, piece: str) -> list[Event]:
        """Append; returns what became visible."""
        body = piece.rstrip()
        if not body:
            if piece:
                self._space.append(piece)
                self._space_length += len(piece)
            return []
        told = body if self.length else body.lstrip()
        if self._space:
            told = "".join(self._space) + told if self.length else told
            self._space, self._space_length = [], 0
        if len(body) < len(piece):
            self._space, self._space_length = [piece[len(body) :]], len(piece) - len(body)
        self._parts.append(told)
        self.length += len(told)
        return [Delta(told)]

    def start(self) -> int:
        """Where the next visible character will stand, in code points from the beginning of the visible text."""
        return self.length + (self._space_length if self.length else 0)
