"""Bounded concurrency: so many pieces of work at a time, and one plain error when they must stop."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, TypeVar

from demur.evaluation.errors import EvaluationError

T = TypeVar("T")


async def bounded_gather(items: Iterable[T], work: Callable[[T], Awaitable[None]], size: int) -> None:
    """Work on `size` items at a time. An EvaluationError of one stops all and is raised as itself."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(size):
                group.create_task(worker())
    except* EvaluationError as errors:
        raise next(_leaves(errors)) from None


def _leaves(group: BaseExceptionGroup[Any]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
