"""Samples that end become votes: their answers get the keys that tell which of them mean the same."""

import asyncio
from collections.abc import Awaitable, Callable

from demur.core.answers import Completion
from demur.core.equivalence import answer_key
from demur.core.selection import Sample, sample_of
from demur.grading import Grader

KeyOf = Callable[[str], Awaitable[str | None]]
"""The key of an answer; equal keys mean equal answers."""


def keys_by(grader: Grader | None) -> KeyOf:
    """Keys for the answers of a vote. Without a grader formulas are compared as they are written."""
    if grader is None:
        return lambda answer: asyncio.to_thread(answer_key, answer)
    return lambda answer: grader.run(grader.key, answer)


async def vote_of(i: int, completion: Completion, key_of: KeyOf) -> Sample:
    """The i-th sample as a vote."""
    key = None if completion.answer is None else await key_of(completion.answer)
    return sample_of(i, completion, key)
