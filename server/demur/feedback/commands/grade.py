"""`demur grade`: a queue in the terminal, one answer at a time, with single keys. The server knows how far it went."""

import asyncio
import os
import sys
import time
from pathlib import Path
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
        Literal["audit", "learn"] | None,
        typer.Option(
            help="audit: a plain sample, for promises and drift. learn: the least sure, for the map. (default: audit,"
            " and learn for a judge)"
        ),
    ] = None,
    base_url: BaseUrl = None,
    api_key: ApiKey = None,
    known: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Grade those whose right answer is in this file, one {"question", "answer"} a line, by comparison.',
        ),
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option(help="Let this model grade in your place; what it says is marked as a judge's.")
    ] = None,
    judge_base_url: Annotated[
        str | None, typer.Option(help="The OpenAI-compatible host of the judge; its key is in DEMUR_JUDGE_API_KEY.")
    ] = None,
    every: Annotated[
        float | None, typer.Option(min=1, help="With a judge: look again after so many seconds, until you stop it.")
    ] = None,
) -> None:
    """Grade answers one by one. Stop whenever you like: the next run goes on where this one ended.

    Decide beforehand how many to grade, and do not stop for what you see: see the page about calibrating.
    """
    check_client()
    from demur.feedback.commands.screen import show_item
    from demur.feedback.commands.server import GradingServer, Refused

    if known is not None and judge_model is not None:
        raise typer.BadParameter("give --known or a judge, one after the other", param_hint="--known")
    if (judge_model is None) != (judge_base_url is None) or (every is not None and judge_model is None):
        raise typer.BadParameter("--judge-model and --judge-base-url go together", param_hint="--judge-model")
    try:
        with GradingServer(base_url, api_key) as server:
            if known is not None:
                graded = compared(server, queue or "audit", known)
            elif judge_model is None or judge_base_url is None:
                graded = Loop(server, queue or "audit", show_item).run()
            else:
                graded = judged(server, queue or "learn", judge_base_url, judge_model, every)
    except (Refused, ValueError) as error:
        fail(str(error))
    typer.echo(f"{graded} graded")


def compared(server: Any, queue: str, path: Path) -> int:
    """How many were graded by comparison with known answers."""
    from demur.feedback.commands.known import grade_known, read_known

    graded, left = grade_known(server, queue, read_known(path))
    if left:
        typer.echo(f"{left} others have no known answer; they are left for people", err=True)
    return graded


def judged(server: Any, queue: str, base_url: str, model: str, every: float | None) -> int:
    """How many a judge graded; with `every` it goes on until somebody stops it."""
    from demur.evaluation.errors import EvaluationError
    from demur.feedback.commands.judging import JudgeHost, judge_queue

    host, graded = JudgeHost(base_url, model, os.environ.get("DEMUR_JUDGE_API_KEY")), 0
    try:
        while True:
            found = asyncio.run(judge_queue(server, queue, host))
            graded += found.graded
            if found.silent:
                typer.echo(f"the judge gave no verdict on {found.silent}, the last: {found.trouble}", err=True)
            if every is None:
                return graded
            time.sleep(every)
    except EvaluationError as error:
        fail(str(error))
    except KeyboardInterrupt:
        return graded


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
    """Takes an item, shows it, sends what is pressed, until the queue is empty or somebody quits.

    Where claims were decided on, each of them comes first, and the answer itself last.
    """

    def __init__(self, server: Any, queue: str, show: Any) -> None:
        self._server, self._queue, self._show = server, queue, show
        self._done: list[tuple[dict[str, Any], int | None]] = []
        self._claim: int | None = None
        self._graded = 0

    def run(self) -> int:
        """How many were graded."""
        item, progress = self._take()
        while item is not None:
            self._show(item, progress, HELP, self._claim)
            key = read_key()
            if key == "q":
                self._server.send(item, {"skip": "release"})
                return self._graded
            if key == "u":
                item = self._undo(item)
            elif key in KEYS:
                self._say(item, KEYS[key])
                if self._claim is None:
                    item, progress = self._take()
                else:
                    self._claim = next(iter(range(self._claim + 1, len(item["claims"]))), None)
        typer.echo("nothing is left to grade")
        return self._graded

    def _take(self) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        item, progress = self._server.take(self._queue)
        by_claim = item is not None and item["granularity"] == "claims" and item["claims"]
        self._claim = 0 if by_claim else None
        return item, progress

    def _say(self, item: dict[str, Any], said: dict[str, Any]) -> None:
        """About the claim that is shown, or the answer; "later" is always about the whole item."""
        if said == {"skip": "later"}:
            self._claim = None
        self._server.send(item, said if self._claim is None else said | {"claim": self._claim})
        if "correct" in said:
            self._graded += self._claim is None
            self._done.append((item, self._claim))

    def _undo(self, item: dict[str, Any]) -> dict[str, Any]:
        """The last verdict is taken back. It may have been on another item, which comes back; the one on the screen
        goes back to the queue then."""
        if not self._done:
            return item
        last, claim = self._done.pop()
        self._server.send(last, {"correct": None} if claim is None else {"correct": None, "claim": claim})
        if last["answer_id"] != item["answer_id"]:
            self._server.send(item, {"skip": "release"})
        self._graded -= claim is None
        self._claim = claim
        return last
