"""All that a server does with what it keeps: one object, handed to the API."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from demur.answering import Final
from demur.answering.conditions import conditions_of
from demur.answering.resolved_request import ResolvedRequest
from demur.calibration.store import CalibratorStore
from demur.core.answers import Granularity
from demur.feedback import grades, leases, refits, shadows, stored_answers, summary
from demur.feedback.database import reading
from demur.feedback.errors import FeedbackError, UnknownAnswer
from demur.feedback.grades import Given, Grader, Kept
from demur.feedback.metrics import FeedbackMetrics
from demur.feedback.options import FeedbackOptions, QueueName
from demur.feedback.record import Row, row_of
from demur.feedback.watching import Watched, watched
from demur.feedback.writer import Writer
from demur.manifest import Manifest
from demur.observability.logs import logger
from demur.prompts import Domain

T = TypeVar("T")

LOOK_AGAIN = 30.0
"""Seconds after which the state of the drift tests is read again: another replica may have fed them."""
FORGET_EVERY = 3600.0
TRIES = 3
"""For a transaction that the database breaks off."""


class Feedback:
    """What was answered, kept in `db` and graded. Made by `opening.open_feedback`; the caller closes it.

    `note` is called while a request is answered and costs it some 50 microseconds; everything else runs in threads.
    `fingerprint` tells models of one name apart. `clock` gives seconds since 1970, `rng` decides what is drawn.
    """

    def __init__(
        self,
        db: Engine,
        options: FeedbackOptions,
        manifest: Manifest,
        fingerprint: str,
        *,
        clock: Callable[[], float] = time.time,
        rng: Random | None = None,
    ) -> None:
        self.options = options
        self._db, self._clock, self._rng = db, clock, rng or Random()
        self._model, self._fingerprint = manifest.name, fingerprint
        self._domain: Domain = manifest.domain
        self.metrics: FeedbackMetrics | None = None
        """Where it counts; nothing before `measure`."""
        self.calibrators = CalibratorStore()
        """What is served, and what computes beside it; none before the app sets it."""
        self._forgot = 0.0
        with db.begin() as connection:
            self._epoch = stored_answers.epoch_of(connection, options, self._model, self._fingerprint, clock())
            self.drift: tuple[Watched, ...] = tuple(watched(connection))
        self._writer = Writer(self._write, options.most_waiting, self._dropped, self._tidy, LOOK_AGAIN)
        self._writer.start()

    def measure(self, registry: CollectorRegistry) -> None:
        """Count in this registry from now on."""
        self.metrics = metrics = FeedbackMetrics(registry)
        metrics.watch(lambda: self._writer.waiting)
        metrics.show(self.drift)

    def note(self, final: Final, request: ResolvedRequest, caller: str) -> None:
        """Keep an answer that is about to be given."""
        try:
            conditions = conditions_of(request, self._domain)
            row = row_of(final, request, caller, conditions, self.options, self._rng, self._clock())
        except Exception:  # noqa: BLE001  an answer is worth more than its record
            logger.exception("an answer could not be kept")
            return
        self._writer.put(row)

    def drifted(self, calibrator: str) -> bool:
        """Whether the drift alarm of a calibrator, named by its id, has rung."""
        return any(test.name == calibrator and test.alarm_at is not None for test in self.drift)

    def flush(self) -> bool:
        """Wait until what was noted is written, some seconds at most; whether it is."""
        return self._writer.flush()

    async def claim(self, queue: QueueName, grader: str, limit: int) -> list[dict[str, Any]]:
        """Take items of a queue to grade, what was answered a moment ago among them."""
        await asyncio.to_thread(self.flush)
        lease = self.options.lease
        return await self._changing(lambda db: leases.claim(db, queue, grader, limit, lease, self._clock()))

    async def progress(self, queue: QueueName) -> dict[str, int]:
        """How many items of a queue are open, graded and skipped for good."""
        return await self._reading(lambda db: leases.progress(db, queue))

    async def give(self, given: Sequence[Given], grader: Grader) -> list[Kept | FeedbackError]:
        """Keep verdicts, each by itself: one that is wrong costs no other. They are on disk when this returns."""
        results = await self._changing(lambda db: [self._one(db, each, grader) for each in given])
        if any(isinstance(result, UnknownAnswer) for result in results):
            await asyncio.to_thread(self.flush)  # an answer given this very moment may still wait to be written
            results = await self._changing(lambda db: [self._one(db, each, grader) for each in given])
        kept = [result for result in results if isinstance(result, Kept)]
        if any(one.source == "audit" for one in kept):
            await asyncio.to_thread(self._look)
        self._count(kept)
        return results

    async def summarize(self, *, graders: bool) -> summary.Summary:
        """What was graded so far."""
        return await self._reading(lambda db: summary.summarize(db, self.options, self._epoch, graders=graders))

    async def remove(self, answer_id: str) -> None:
        """Delete an answer with all that is known of it. Raises UnknownAnswer."""
        await asyncio.to_thread(self.flush)
        await self._changing(lambda db: stored_answers.remove(db, answer_id))

    async def refit(
        self, since: float, by: str, level: Granularity = "response", *, judge: bool = True
    ) -> refits.Refit:
        """The graded rows for a new calibrator, and the look counted; see `refits.take`. Raises JudgedAudits."""
        model = self._model, self._fingerprint
        asked = *model, since, by, self._clock(), level
        return await self._changing(lambda db: refits.take(db, self.options, *asked, judge=judge))

    def close(self) -> None:
        """Write what waits, and close the database."""
        self._writer.close()
        self._db.dispose()

    def _one(self, db: Connection, given: Given, grader: Grader) -> Kept | FeedbackError:
        try:
            with db.begin_nested():
                return grades.give(db, given, grader, self.options, self._clock())
        except FeedbackError as error:
            return error

    async def _changing(self, work: Callable[[Connection], T]) -> T:
        def run() -> T:
            for _ in range(TRIES - 1):
                with suppress(OperationalError):  # a deadlock between two graders, for one, which PostgreSQL breaks
                    return once()
            return once()

        def once() -> T:
            with self._db.begin() as connection:
                return work(connection)

        return await asyncio.to_thread(run)

    async def _reading(self, work: Callable[[Connection], T]) -> T:
        def run() -> T:
            with reading(self._db) as connection:
                return work(connection)

        return await asyncio.to_thread(run)

    def _write(self, rows: Sequence[Row]) -> None:
        compared = shadows.beside(rows, self.calibrators)
        with self._db.begin() as connection:
            new = {row["id"] for row in stored_answers.write(connection, self._epoch, rows)}
            shadows.keep(connection, [one for one in compared if one["answer_id"] in new])
        if self.metrics is not None:
            for row in rows:
                self.metrics.kept.labels(row["queue"] or "none").inc()
            for one in compared:
                self.metrics.shadow.labels(one["calibrator"], shadows.kind_of(one["old"], one["new"])).inc()

    def _dropped(self, row: Row) -> None:
        if self.metrics is not None:
            self.metrics.dropped.labels(row["queue"] or "none").inc()

    def _tidy(self) -> None:
        """When nothing waits to be written."""
        self._look()
        now = self._clock()
        if now - self._forgot >= FORGET_EVERY:
            self._forgot = now
            with self._db.begin() as connection:
                gone = stored_answers.forget(connection, self.options.keep_days, now)
            if gone:
                logger.info("old answers were deleted", extra={"fields": {"answers": gone}})

    def _look(self) -> None:
        with reading(self._db) as connection:
            self.drift = tuple(watched(connection))
        if self.metrics is not None:
            self.metrics.show(self.drift)

    def _count(self, kept: Sequence[Kept]) -> None:
        for one in kept:
            if one.alarm:
                logger.warning("the share of wrong answers has risen above what it may be")
            if self.metrics is not None and not one.repeated:
                self.metrics.grades.labels(one.source, one.verdict).inc()
