"""Progress on standard error: done, speed, time left, failures."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as TimeLeftColumn

from demur.evaluation.asking.base import Output, RequestId


class Bar:
    """A progress bar that a runner can report to."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task
        self._failures = self._tokens = 0

    def answered(self, output: Output) -> None:
        """One more response is stored."""
        self._tokens += output.tokens
        self.advance()

    def failed(self, key: RequestId, why: str) -> None:
        """One question got no answer; the first says why above the bar."""
        self._failures += 1
        if self._failures == 1:
            self._progress.console.print(f"question {key.problem}: {why}", style="yellow", markup=False)
        self.advance()

    def note(self, line: str) -> None:
        """Something to know of the whole run, above the bar."""
        self._progress.console.print(line, style="yellow", markup=False, soft_wrap=True)

    def advance(self) -> None:
        """One more is done."""
        failures = f", {self._failures} failed" if self._failures else ""
        note = f"{self._tokens:,} tokens{failures}" if self._tokens else failures.removeprefix(", ")
        self._progress.update(self._task, advance=1, note=note)


@contextmanager
def bar(what: str, total: int, done: int = 0) -> Iterator[Bar]:
    """Show a bar while the context lasts. The time left is estimated from what is done in it, not from `done`."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("in"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeLeftColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        yield Bar(progress, progress.add_task(what, total=total, completed=done, note=""))
