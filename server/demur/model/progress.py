"""A progress bar for work that reports what it is doing and which share of it is done."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from demur.model.smollm2 import Progress as Report


@contextmanager
def progress_bar(title: str, console: Console | None = None) -> Iterator[Report]:
    """Show a bar on standard error (or `console`) until the block ends; the block gets the function to report to."""
    columns = (TextColumn("{task.fields[title]}"), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console or Console(stderr=True)) as bar:
        task = bar.add_task("", total=1.0, title=title)
        yield lambda doing, share: bar.update(task, description=doing, completed=share)
