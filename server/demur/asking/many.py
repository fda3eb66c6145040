"""A file of questions: asked some at a time, answered into another file, resumed where a run was stopped."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from demur.asking.exits import ANSWERED, FAILED, INTERRUPTED, fail
from demur.asking.one import explained
from demur.asking.rows import Digest, QuestionRow, RowError, digest, keep_answered, read_questions
from demur_client import Answer, AsyncClient, Failure

GIVE_UP = 10
"""Failures in a row after which the rest is not asked: the server is down, or refuses everything."""

_ECHOED = ("risk_threshold", "max_error", "contract", "granularity")


def ask_file(
    file: Path, out: Path, concurrency: int, server: dict[str, Any], options: Mapping[str, Any], *, no_color: bool
) -> int:
    """Ask every question that has no reply in `out` yet; the exit status."""
    console = Console(stderr=True, no_color=no_color or None, highlight=False, markup=False, soft_wrap=True)
    try:
        rows = read_questions(file)
        tally = BatchTally(keep_answered(out, rows, {name: options[name] for name in _ECHOED}))
        left = [row for row in rows if row.line not in tally.replies]
        if len(left) < len(rows):
            console.print(f"{len(rows) - len(left)} of {len(rows)} questions are answered in {out} already")
        asyncio.run(_ask(left, out, concurrency, server, options, tally, console))
    except KeyboardInterrupt:
        console.print(f"stopped; the same command goes on from {out}")
        return INTERRUPTED
    except (RowError, OSError, ValueError) as error:
        fail(str(error))
    console.print(tally.summary(len(rows)))
    return ANSWERED if len(tally.replies) == len(rows) else FAILED


class BatchTally:
    """What has been counted so far: `replies` by line number, with those of earlier runs; failures of this one."""

    def __init__(self, replies: dict[int, Digest]) -> None:
        self.replies = replies
        self.failed = 0
        self.in_a_row = 0
        self.last_error = ""
        self._began = time.monotonic()

    def add(self, row: QuestionRow, result: Answer | Failure) -> str:
        """Count one result; the line to write for it."""
        if isinstance(result, Failure):
            self.failed += 1
            self.in_a_row += 1
            self.last_error = explained(result.error)
            error = {"type": type(result.error).__name__, "message": str(result.error)}
            return row.outcome(error=error)
        self.in_a_row = 0
        reply = result.to_dict()
        self.replies[row.line] = digest(reply)
        return row.outcome(reply=reply)

    def summary(self, total: int) -> str:
        """What a person wants to know at the end."""
        replies = self.replies.values()
        answered = sum(reply.decision == "answer" for reply in replies)
        reasons = Counter(reply.reason for reply in replies if reply.reason)
        sure = [reply.confidence for reply in replies if reply.confidence is not None]
        lines = [f"{total} questions: {answered} answered, {len(replies) - answered} abstained, {self.failed} failed"]
        lines += [f"abstained, {reason.replace('_', ' ')}: {count}" for reason, count in reasons.most_common()]
        if sure:
            lines.append(f"mean confidence {sum(sure) / len(sure):.3f} over {len(sure)} that stated one")
        tokens, seconds = sum(reply.tokens for reply in replies), time.monotonic() - self._began
        lines.append(f"{tokens} tokens in all; this run took {seconds:.1f} s")
        if self.failed:
            lines.append(f"the last failure: {self.last_error}")
        if len(replies) + self.failed < total:
            lines.append(f"gave up after {self.in_a_row} failures in a row; the same command goes on")
        return "\n".join(lines)


async def _ask(
    rows: Sequence[QuestionRow],
    out: Path,
    concurrency: int,
    server: dict[str, Any],
    options: Any,
    tally: BatchTally,
    console: Console,
) -> None:
    questions = [row.question for row in rows]
    with out.open("a", encoding="utf-8") as lines, _bar(console) as bar:
        task = bar.add_task("asking", total=len(rows))
        async with (
            AsyncClient(**server) as client,
            aclosing(client.answer_each(questions, concurrency=concurrency, **options)) as results,
        ):
            async for index, result in results:
                lines.write(tally.add(rows[index], result))
                lines.flush()
                bar.update(task, advance=1, description=f"asking, {tally.failed} failed")
                if tally.in_a_row >= GIVE_UP:
                    return


def _bar(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)
