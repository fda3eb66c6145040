"""The grader: `demur.core.equivalence` with formulas compared by value."""

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from queue import SimpleQueue
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from demur.core import equivalence
from demur.grading.process import GraderError, Process

P = ParamSpec("P")
T = TypeVar("T")

LIMIT = 0.3
"""Seconds of processor time one formula may cost."""
BUDGET = 1.0
"""Seconds of processor time that all formulas of one answer may cost. The rest of it is compared as written."""
CACHED = 8_192
"""Formulas whose values are remembered,"""
CACHED_CHARS = 1_000
"""unless the value is longer: a matrix has one for each entry."""

Question = tuple[str, ...]
_WITHOUT = {"pint": "units are not converted", "babel": "months are known by their English names only"}

logger = logging.getLogger(__name__)


class Grader:
    """Grades from any thread: `same`, `correct`, `key`, `group`. Started and closed explicitly, or by `with`.

    `workers` processes, at least one, grade at once. From asyncio, `await grader.run(grader.correct, answer, truth)`
    does the same without blocking the loop. Starting takes a few seconds, most of it sympy's import.

    Comparing raises GraderError where a formula, a unit or a month has to be looked at and the workers were not
    started, were closed, or died twice over it.
    """

    def __init__(self, workers: int = 1) -> None:
        if workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        self.workers = workers
        self._all: list[Process] = []
        self._processes: SimpleQueue[Process] = SimpleQueue()
        self._known: OrderedDict[Question, dict[str, Any]] = OrderedDict()
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None

    def start(self) -> Self:
        """Start the workers and wait for them. Raises GraderError; starting twice does nothing."""
        if self._threads is None:
            self._all = _started(self.workers)
            for process in self._all:
                self._processes.put(process)
            self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="grader")
        return self

    def close(self) -> None:
        """End the workers: what they are at fails with GraderError. Closing twice does nothing."""
        if self._threads is None:
            return
        threads, self._threads = self._threads, None
        for process in self._all:
            process.kill()
        threads.shutdown(cancel_futures=True)
        for _ in range(self.workers):
            self._processes.get().close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers, for monitoring. Empty while they are all at work."""
        idle = [self._processes.get() for _ in range(self._processes.qsize())]
        for process in idle:
            self._processes.put(process)
        return [process.pid for process in idle]

    def session(self) -> "Session":
        """The algebra for one answer or one comparison, whose processor time in all is bounded."""
        return Session(self)

    def same(self, a: str, b: str) -> bool:
        """Whether two answers mean the same: `demur.core.equivalence.same_answer` with formulas compared by value."""
        return equivalence.same_answer(a, b, self.session())

    def correct(self, answer: str | None, ground_truth: Any) -> bool:
        """Whether an answer means the same as an accepted one: `demur.core.equivalence.is_correct`, by value."""
        return equivalence.is_correct(answer, ground_truth, self.session())

    def key(self, answer: str) -> str | None:
        """The canonical key of an answer: `demur.core.equivalence.answer_key`, by value."""
        return equivalence.answer_key(answer, self.session())

    def group(self, answers: Sequence[str | None]) -> list[int | None]:
        """A group number for each answer: `demur.core.equivalence.group_answers`, by value.

        It costs at most a second of a worker's processor time for each answer.
        """
        return equivalence.group_by(answers, self.key)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call any of the above from asyncio. At most `workers` calls run at once. Raises GraderError before `start`,
        and what the function raises."""
        if self._threads is None:
            raise GraderError("the grader is not running; call start() first")
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: function(*args, **kwargs))

    def ask(self, operation: str, *formulas: str) -> tuple[Any | None, float]:
        """The worker's value, None where it has none, and the seconds of processor time it took when it was found.

        Raises TookTooLong, or GraderError.
        """
        question = (operation, *formulas)
        with self._lock:
            reply = self._known.get(question)
            if reply is not None:
                self._known.move_to_end(question)
        if reply is None:
            reply = self._reply(question)
            self._remember(question, reply)
        if reply.get("failed") == "time":
            raise TookTooLong
        return reply.get("value"), reply["seconds"]

    def _reply(self, question: Question) -> dict[str, Any]:
        """Ask a worker, replacing it once if it is gone."""
        if self._threads is None:
            raise GraderError("the grader is not running; call start() first")
        process = self._processes.get()
        try:
            reply = process.ask(question[0], question[1:], LIMIT)
            if reply is None and self._threads is not None:
                process.restart()
                reply = process.ask(question[0], question[1:], LIMIT)
        finally:
            self._processes.put(process)
        if reply is None:
            raise GraderError("the grading process died twice over one formula, or was closed")
        return reply

    def _remember(self, question: Question, reply: dict[str, Any]) -> None:
        """Also that it took too long: it costs its limit once, and is stopped again whenever it is asked for."""
        if len(str(reply.get("value"))) > CACHED_CHARS:
            return
        with self._lock:
            self._known[question] = reply
            if len(self._known) > CACHED:
                self._known.popitem(last=False)


def _started(count: int) -> list[Process]:
    """All of them ready, or none left running."""
    processes = [Process() for _ in range(count)]
    try:
        missing = {name for process in processes for name in process.wait_until_ready()}
    except GraderError:
        for process in processes:
            process.close()
        raise
    for name in sorted(missing):
        logger.warning("%s is not installed: %s; pip install 'demur[server]'", name, _WITHOUT[name])
    return processes


class TookTooLong(Exception):
    """The worker was stopped over this formula."""


class Session:
    """A Grader for one answer, or for one comparison: a `demur.core.equivalence.Algebra`.

    Each formula has the same time, whatever came before it; what one answer costs in all is bounded, and takes nothing
    from any other. What is remembered costs as much as it did, so that an answer is read alike each time.
    """

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self._spent = 0.0

    def canonical(self, latex: str) -> str | None:
        return self._ask("canonical", latex) if equivalence.is_tame(latex) else None

    def equal(self, latex: str, other: str) -> bool:
        tame = equivalence.is_tame(latex) and equivalence.is_tame(other)
        return bool(self._ask("equal", latex, other)) if tame else False

    def unit(self, name: str) -> equivalence.Scale | None:
        scale = self._ask("unit", name)
        return None if scale is None else equivalence.Scale(Fraction(scale[0]), Fraction(scale[1]), scale[2])

    def month(self, name: str) -> int | None:
        return self._ask("month", name)

    def _ask(self, operation: str, *formulas: str) -> Any | None:
        if self._spent + LIMIT > BUDGET:
            return None
        try:
            value, seconds = self._grader.ask(operation, *formulas)
        except TookTooLong:
            value, seconds = None, LIMIT
        self._spent += seconds
        return value
