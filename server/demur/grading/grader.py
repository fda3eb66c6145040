"""The grader: `demur.core.equivalence` with formulas compared by value."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from demur.core import equivalence
from demur.grading.process import GraderError, Process

P = ParamSpec("P")
T = TypeVar("T")

LIMIT = 0.3
"""Seconds of processor time one formula may cost."""
SHORTEST = 0.005
"""A formula gets at least this long, which is enough for most, however many of its vote were stopped before it."""
MOST_STOPPED = 32
"""Formulas stopped in one vote before the rest of it is compared as written."""
CACHED = 8_192

Question = tuple[str, ...]


class Grader:
    """Grades from any thread: `same`, `correct`, `key`, `group`. Started and closed explicitly, or by `with`.

    `workers` processes grade at once. From asyncio, `await grader.run(grader.correct, answer, truth)` does the same
    without blocking the loop. Starting takes a few seconds, most of it sympy's import.
    """

    def __init__(self, workers: int = 1) -> None:
        if workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        self._size = workers
        self._processes: SimpleQueue[Process] = SimpleQueue()
        self._known: OrderedDict[Question, Any] = OrderedDict()
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None

    def start(self) -> Self:
        """Start the workers and wait for them. Raises GraderError; starting twice does nothing."""
        if self._threads is None:
            for process in _started(self._size):
                self._processes.put(process)
            self._threads = ThreadPoolExecutor(self._size, thread_name_prefix="grader")
        return self

    def close(self) -> None:
        """End the workers once they are done with what they have. Closing twice does nothing."""
        if self._threads is None:
            return
        self._threads.shutdown()
        self._threads = None
        for _ in range(self._size):
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
        """For one vote: what its hostile answers may cost together is bounded."""
        return Session(self)

    def same(self, a: str, b: str) -> bool:
        """`demur.core.equivalence.same_answer`."""
        return self.session().same(a, b)

    def correct(self, answer: str | None, ground_truth: Any) -> bool:
        """`demur.core.equivalence.is_correct`."""
        return self.session().correct(answer, ground_truth)

    def key(self, answer: str) -> str | None:
        """`demur.core.equivalence.answer_key`."""
        return self.session().key(answer)

    def group(self, answers: Sequence[str | None]) -> list[int | None]:
        """`demur.core.equivalence.group_answers`."""
        return self.session().group(answers)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call any of the above, or a session's, from asyncio. At most `workers` calls run at once."""
        if self._threads is None:
            raise GraderError("the grader is not running; call start() first")
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: function(*args, **kwargs))

    def ask(self, operation: str, *formulas: str, limit: float) -> Any | None:
        """The worker's value, or None where it has none or was stopped. Raises GraderError."""
        question = (operation, *formulas)
        with self._lock:
            if question in self._known:
                self._known.move_to_end(question)
                return self._known[question]
        reply = self._reply(question, limit)
        value = reply.get("value")
        if reply.get("failed") != "time" or limit >= LIMIT:
            self._remember(question, value)
        if reply.get("failed") == "time":
            raise TookTooLong
        return value

    def _reply(self, question: Question, limit: float) -> dict[str, Any]:
        """Ask a worker, replacing it once if it is gone."""
        if self._threads is None:
            raise GraderError("the grader is not running; call start() first")
        process = self._processes.get()
        try:
            reply = process.ask(question[0], question[1:], limit)
            if reply is None:
                process.close()
                process = Process()
                process.wait_until_ready()
                reply = process.ask(question[0], question[1:], limit)
        finally:
            self._processes.put(process)
        if reply is None:
            raise GraderError("the grading process died twice over one formula")
        return reply

    def _remember(self, question: Question, value: Any) -> None:
        """Also what took too long, so that it costs its limit once. Not what had less than the full limit."""
        with self._lock:
            self._known[question] = value
            if len(self._known) > CACHED:
                self._known.popitem(last=False)


def _started(count: int) -> list[Process]:
    """All of them ready, or none left running."""
    processes = [Process() for _ in range(count)]
    try:
        for process in processes:
            process.wait_until_ready()
    except GraderError:
        for process in processes:
            process.close()
        raise
    return processes


class TookTooLong(Exception):
    """The worker was stopped over this formula."""


class Session:
    """A Grader for the answers of one vote.

    Each formula that has to be stopped leaves the next a third of its time, down to `SHORTEST`: however many hostile
    answers a vote holds, they cost less than a second together, and the honest ones among them are still read.
    """

    def __init__(self, grader: Grader) -> None:
        self._grader = grader
        self.stopped = 0
        """Formulas that had to be stopped."""

    @property
    def limit(self) -> float:
        """Seconds of processor time the next formula may cost."""
        return max(LIMIT / 3**self.stopped, SHORTEST) if self.stopped < MOST_STOPPED else 0.0

    def same(self, a: str, b: str) -> bool:
        return equivalence.same_answer(a, b, self)

    def correct(self, answer: str | None, ground_truth: Any) -> bool:
        return equivalence.is_correct(answer, ground_truth, self)

    def key(self, answer: str) -> str | None:
        return equivalence.answer_key(answer, self)

    def group(self, answers: Sequence[str | None]) -> list[int | None]:
        return equivalence.group_answers(answers, self)

    def canonical(self, latex: str) -> str | None:
        """For `demur.core.equivalence.Algebra`."""
        return self._ask("canonical", latex) if equivalence.is_tame(latex) else None

    def equal(self, latex: str, other: str) -> bool:
        """For `demur.core.equivalence.Algebra`."""
        tame = equivalence.is_tame(latex) and equivalence.is_tame(other)
        return bool(self._ask("equal", latex, other)) if tame else False

    def _ask(self, operation: str, *formulas: str) -> Any | None:
        try:
            return self._grader.ask(operation, *formulas, limit=self.limit) if self.limit else None
        except TookTooLong:
            self.stopped += 1
            return None
