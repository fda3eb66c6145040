"""What a caller may see while samples are still being read, and how often it hears of the rest."""

import asyncio
from collections.abc import Iterable

from demur.answering.answer import give_claim
from demur.answering.events import ClaimGiven, Delta, Event, Reset
from demur.answering.plan import Plan
from demur.core import reading


def show(events: Iterable[reading.Event], plan: Plan) -> list[Event]:
    """The reader's events as the caller gets them: none while what they tell may still be withheld."""
    return [_given(event, plan) for event in events] if plan.live else []


def _given(event: reading.Event, plan: Plan) -> Event:
    match event:
        case reading.Delta():
            return Delta(event.text)
        case reading.ClaimRead():
            return ClaimGiven(event.index, give_claim(event.claim, plan.risk_threshold))
        case reading.Reset():
            return Reset(event.reason)


class Throttle:
    """Lets something happen at most once in `interval` seconds, the first time at once."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._next = 0.0

    def due(self) -> bool:
        now = asyncio.get_running_loop().time()
        if now < self._next:
            return False
        self._next = now + self._interval
        return True
