"""Many questions, some at a time: what both clients' `answer_many` and `answer_each` are made of."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from typing import Union

from .answers import Answer
from .errors import DemurError
from .request import Question

Progress = Callable[[int, int], None]
"""Called with (done, total) each time a question is done."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A question that has no answer because of `error`. False in a condition, as an abstention is."""

    question: Question
    error: DemurError

    def __bool__(self) -> bool:
        return False


Result = Union[Answer, Failure]  # noqa: UP007


def in_threads(
    ask: Callable[[Question], Answer], questions: Iterable[Question], concurrency: int
) -> Generator[tuple[int, Result], None, None]:
    """Pairs of index and result as they finish, from a pool of `concurrency` threads. Raises ValueError for a
    concurrency below 1."""

    def attempt(question: Question) -> Result:
        try:
            return ask(question)
        except DemurError as error:
            return Failure(question, error)

    left = enumerate(questions)
    running: dict[Future[Result], int] = {}
    pool = ThreadPoolExecutor(_checked(concurrency), thread_name_prefix="demur-client")
    try:
        running |= {pool.submit(attempt, question): index for index, question in islice(left, concurrency)}
        while running:
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                finished = running.pop(done)
                running |= {pool.submit(attempt, question): index for index, question in islice(left, 1)}
                yield finished, done.result()
    finally:
        pool.shutdown(cancel_futures=True)


async def in_tasks(
    ask: Callable[[Question], Awaitable[Answer]], questions: Iterable[Question], concurrency: int
) -> AsyncGenerator[tuple[int, Result], None]:
    """Pairs of index and result as they finish, from `concurrency` tasks. Raises ValueError for a concurrency below
    1."""

    async def attempt(question: Question) -> Result:
        try:
            return await ask(question)
        except DemurError as error:
            return Failure(question, error)

    left = enumerate(questions)
    running: dict[asyncio.Task[Result], int] = {}
    try:
        for index, question in islice(left, _checked(concurrency)):
            running[asyncio.create_task(attempt(question))] = index
        while running:
            for done in (await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED))[0]:
                finished = running.pop(done)
                for index, question in islice(left, 1):
                    running[asyncio.create_task(attempt(question))] = index
                yield finished, done.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


@contextmanager
def reporting(progress: bool | Progress) -> Generator[Progress]:
    """The function to report progress to: the caller's own, a tqdm bar where that is installed, or one line."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda done, total: None
    elif find_spec("tqdm"):
        with _Bar() as bar:
            yield bar
    else:
        yield _line


class _Bar:
    """A tqdm bar that is drawn at the first report, when the total is known."""

    def __enter__(self) -> Progress:
        from tqdm.auto import tqdm

        self._bar = tqdm(unit="question")
        return self._report

    def _report(self, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def __exit__(self, *_: object) -> None:
        self._bar.close()


def _line(done: int, total: int) -> None:
    sys.stderr.write(f"\r{done}/{total} questions" + ("\n" if done == total else ""))
    sys.stderr.flush()


def _checked(concurrency: int) -> int:
    if concurrency < 1:
        raise ValueError(f"concurrency has to be at least 1, not {concurrency}")
    return concurrency
