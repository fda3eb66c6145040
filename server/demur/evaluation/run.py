"""One evaluation: ask what was not asked yet, grade everything, write the rows."""

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from demur.evaluation.asking.base import RequestId
from demur.evaluation.asking.endpoint import Endpoint
from demur.evaluation.asking.runner import Runner, Watcher, describe, key_of
from demur.evaluation.asking.served import PATH, served_by
from demur.evaluation.asking.store import Store
from demur.evaluation.grade import Graded, Grades, claim_rows, grade, row_of
from demur.evaluation.grades_file import write_graded
from demur.evaluation.job import CLAIMS, FAILURES, RESPONSES, ROWS, Job, endpoint_of
from demur.evaluation.progress import bar
from demur.evaluation.rows import Row, write_rows
from demur.evaluation.run_config import RunConfig
from demur.evaluation.run_manifest import RunManifest, now
from demur.evaluation.scaling import chosen_rows


@dataclass(frozen=True, slots=True)
class Done:
    """What a run came to: every graded output, and the questions that got no answer."""

    grades: Grades
    failures: dict[RequestId, str]
    dropped: bool = False

    def sentences(self) -> list[str]:
        """What the caller has to know besides the figures."""
        lines: list[str] = []
        if self.dropped:
            lines.append("the last response of an earlier run was half-written; its question was asked again")
        if self.failures:
            key, why = next(iter(self.failures.items()))
            lines.append(f"{len(self.failures)} questions got no answer, the first of them {key.problem!r}: {why}")
        silent = self.grades.malformed + self.grades.unanswered
        if silent:
            trouble = f"the last trouble: {self.grades.last_trouble}"
            counts = f"{self.grades.malformed} unreadable, {self.grades.unanswered} without a reply"
            lines.append(f"the judge gave no verdict on {silent} cases ({counts}; {trouble})")
        return lines


async def evaluate(job: Job) -> Done:
    """Run a job to its rows. Everything answered so far is kept whatever happens, and is never asked again."""
    manifest = RunManifest(job)
    manifest.open()
    failures, dropped = await ask(job, manifest)
    grades = await grade(job)
    write_graded(job.folder, grades.outputs)
    write_rows(job.folder / ROWS, rows_of(job.config, grades.outputs))
    if job.config.granularity == "claims":
        write_rows(job.folder / CLAIMS, (row for one in grades.outputs for row in claim_rows(one)))
    manifest.save(
        finished=now(),
        responses=len(grades.outputs),
        failures=len(failures),
        completion_tokens=sum(one.output.tokens for one in grades.outputs),
        settled=Counter(one.output.settled for one in grades.outputs if one.output.settled is not None),
        **drawn_under(grades.outputs),
        verdicts_missing={"malformed": grades.malformed, "unanswered": grades.unanswered},
    )
    return Done(grades, failures, dropped)


def drawn_under(graded: list[Graded]) -> dict[str, Any]:
    """The confidence source that decided on the answers, and the conditions that all were drawn under.

    Either is None where the answers differ in it, so that no calibrator can be matched by it; the conditions also where
    the server does not say.
    """
    told = [one.output.conditions for one in graded]
    same = bool(told) and all(each == told[0] for each in told)
    sources = {one.output.source for one in graded}
    return {
        "conditions": dict(told[0]) if same and told[0] is not None else None,
        "decided_by": sources.pop() if len(sources) == 1 else None,
    }


def rows_of(config: RunConfig, graded: list[Graded]) -> list[Row]:
    """One row an output, or one a question where one of its samples is to be chosen on this side."""
    if config.selection is not None and config.api == "chat":
        return chosen_rows(graded, config.selection)
    return [row_of(one) for one in graded]


async def _check_served_model(config: RunConfig, manifest: RunManifest, endpoint: Endpoint, watcher: Watcher) -> None:
    """Record the served model, before its answers join those of an earlier start; fail if it is another one."""
    if config.api != "answers":
        return
    served = await served_by(endpoint, config.model, config.contract)
    if served is None:
        watcher.note(f"{endpoint.client.base_url}{PATH} does not say which model is served: a change is not noticed")
    else:
        manifest.check_served_model(served)


async def ask(job: Job, manifest: RunManifest) -> tuple[dict[RequestId, str], bool]:
    """Ask what the store has no answer to yet, so that a run resumes.

    Returns the questions without an answer, and whether a record was half-written.
    """
    endpoint, started = endpoint_of(job.config), time.monotonic()
    with Store(job.folder / RESPONSES) as store:
        known = {key_of(stored) for stored in store.records()}
        asks = list(job.asks())
        missing = [one for one in asks if one.key not in known]
        try:
            async with endpoint.client:
                with bar("asking", len(asks), len(asks) - len(missing)) as watcher:
                    runner = Runner(endpoint, job.api, store, watcher, job.config.concurrency)
                    if missing:
                        await _check_served_model(job.config, manifest, endpoint, watcher)
                    await runner.ask(missing)
        finally:
            manifest.save(seconds_asking=round(manifest.fields["seconds_asking"] + time.monotonic() - started, 3))
    (job.folder / FAILURES).write_text("".join(line + "\n" for line in describe(runner.failures)), encoding="utf-8")
    return runner.failures, store.dropped
