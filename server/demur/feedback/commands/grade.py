"""`demur grade`: a queue in the terminal, one answer at a time, with single keys. The server knows how far it went."""

import sys
from typing import Annotated, Any, Literal

import click
import typer

from demur.asking.exits import fail
from demur.feedback.commands.feedback import ApiKey, BaseUrl, check_client

KEYS = {
    "1": {"correct": True},
    "0": {"correct": False},
    "s": {"skip": "later"},
    "S": {"skip": "for_good"},
}
HELP = "1 right   0 wrong   s later   S cannot be told   u undo   q quit"


def grade(
    queue: Annotated[
        Literal["audit", "learn"],
        typer.Option(help="audit: a plain sample, for promises and drift. learn: the least sure, for the map."),
    ] = "audit",
    base_url: BaseUrl = None,
    api_key: ApiKey = None,
) -> None:
    """Grade answers one by one. Stop whenever you like: the next run goes on where this one ended.

    Decide beforehand how many to grade, and do not stop for what you see: see the page about calibrating.
    """
    check_client()
    from demur.feedback.commands.screen import show_item
    from demur.feedback.commands.server import GradingServer, Refused

    try:
        with GradingServer(base_url, api_key) as server:
            graded = Loop(server, queue, show_item).run()
    except (Refused, ValueError) as error:
        fail(str(error))
    typer.echo(f"{graded} graded")


def read_key() -> str:
    """One key of a terminal; a line where standard input is none. "q" at its end."""
    if sys.stdin.isatty():
        try:
            return click.getchar()
        except (KeyboardInterrupt, EOFError):
            return "q"
    line = sys.stdin.readline()
    return line.strip()[:1] if line else "q"


class Loop:
    """Takes an item, shows it, sends what is pressed, until the queue is empty or somebody quits."""

    def __init__(self, server: Any, queue: str, show: Any) -> None:
        self._server, self._queue, self._show = server, queue, show
        self._done: list[dict[str, Any]] = []
        self._graded = 0

    def run(self) -> int:
        """How many were graded."""
        item, progress = self._server.take(self._queue)
        while item is not None:
            self._show(item, progress, HELP)
            key = read_key()
            if key == "q":
                self._server.send(item, {"skip": "release"})
                return self._graded
            if key == "u":
                item = self._undo(item)
            elif key in KEYS:
                self._server.send(item, KEYS[key])
                self._remember(item, KEYS[key])
                item, progress = self._server.take(self._queue)
        typer.echo("nothing is left to grade")
        return self._graded

    def _remember(self, item: dict[str, Any], said: dict[str, Any]) -> None:
        if "correct" in said:
            self._graded += 1
            self._done.append(item)

    def _undo(self, item: dict[str, Any]) -> dict[str, Any]:
        """The last graded one comes back; the one on the screen goes back to the queue."""
        if not self._done:
            return item
        last = self._done.pop()
        self._server.send(last, {"correct": None})
        self._server.send(item, {"skip": "release"})
        self._graded -= 1
        return last
