"""Which answers are equivalent: samples whose answers mean the same get equal keys, and vote as one group.

As the semantic clusters of arXiv:2302.09664, but by value (numbers, formulas, dates, units) instead of by a
model that judges entailment.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator, Hashable
from contextlib import contextmanager

from demur.core.answers import Completion
from demur.core.contracts import ALL_CONTRACTS
from demur.core.equivalence import written_key
from demur.core.fields import canonical
from demur.core.selection import Sample, sample_of
from demur.grading import Grader, GraderError
from demur.grading.fair_queue import FairQueue

EquivalenceKey = Callable[[str], Awaitable[str | None]]
"""The key of an answer's equivalence class; None where there is no answer."""

LOOP_CHARS = 2_000
"""Longer answers are read in a thread: up to here it takes about a millisecond."""

logger = logging.getLogger(__name__)


class AnswerEquivalence:
    """Equivalence keys for the answers of votes. Without a grader formulas are compared as they are written.

    Numbers and words never wait: only formulas whose value matters go to the grader, in turns.
    """

    def __init__(self, grader: Grader | None) -> None:
        self._grader = grader
        self._queue = FairQueue(1 if grader is None else grader.workers)

    @property
    def waiting(self) -> int:
        """Answers that wait for the grader."""
        return self._queue.waiting

    @contextmanager
    def opened(self, caller: str, request: Hashable) -> Generator[EquivalenceKey]:
        """Keys for one request of `caller`."""
        with self._queue.opened(caller, request) as place:

            async def key_of(answer: str) -> str | None:
                key, algebraic = await _written(answer)
                grader = self._grader
                if grader is None or not algebraic:
                    return key
                try:
                    return await place.run(lambda: grader.run(grader.key, answer))
                except GraderError as error:
                    logger.error("an answer was compared as written", extra={"fields": {"cause": str(error)}})
                    return key

            yield key_of


async def vote_of(i: int, completion: Completion, key_of: EquivalenceKey) -> Sample:
    """The i-th sample as a vote."""
    if completion.answer is None:
        key = None
    elif ALL_CONTRACTS[completion.contract].takes_schema:
        key = canonical(completion.answer)
    else:
        key = await key_of(completion.answer)
    return sample_of(i, completion, key)


async def _written(answer: str) -> tuple[str | None, bool]:
    return written_key(answer) if len(answer) <= LOOP_CHARS else await asyncio.to_thread(written_key, answer)
