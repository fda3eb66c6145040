"""`demur ask`: one question, or a file of them."""

import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from demur.asking.exits import fail
from demur.asking.options import BatchOptions, DisplayOptions, RequestOptions, ServerOptions
from demur.dataclass_options import with_options


@with_options
def ask(
    question: Annotated[str | None, typer.Argument(help="The question; - reads it from standard input.")] = None,
    *,
    request: RequestOptions,
    display: DisplayOptions,
    batch: BatchOptions,
    server: ServerOptions,
) -> None:
    """Ask a running server, and see how sure the answer is.

    Exit status: 0 answered, 3 abstained, 1 failed, 2 wrong command line.

    With --file it is 0 when every question has a reply, abstentions included.
    """
    if not find_spec("demur_client"):
        fail("this command needs the client: pip install demur-client (or, in the repository, ./clients/python)")
    if batch.file is None:
        raise typer.Exit(_ask_one(question, request, display, batch, server))
    raise typer.Exit(_ask_file(batch.file, question, request, display, batch, server))


def _ask_one(
    question: str | None, request: RequestOptions, display: DisplayOptions, batch: BatchOptions, server: ServerOptions
) -> int:
    from demur.asking.one import ask_one

    if batch.out is not None:
        raise typer.BadParameter("goes with --file", param_hint="--out")
    shown, plain = display.shown, display.no_color
    return ask_one(_text_of(question), asdict(server), request.as_request(), shown=shown, no_color=plain)


def _ask_file(
    file: Path,
    question: str | None,
    request: RequestOptions,
    display: DisplayOptions,
    batch: BatchOptions,
    server: ServerOptions,
) -> int:
    from demur.asking.many import ask_file

    out = _checked_out(question, batch.out, display)
    plain = display.no_color
    return ask_file(file, out, batch.concurrency, asdict(server), request.as_request(), no_color=plain)


def _text_of(question: str | None) -> str:
    text = sys.stdin.read() if question == "-" else question
    if text is None or not text.strip():
        raise typer.BadParameter('ask something: demur ask "What is 17 * 24?"', param_hint="QUESTION")
    return text


def _checked_out(question: str | None, out: Path | None, display: DisplayOptions) -> Path:
    """Where the answers to a file go. Raises BadParameter for options that do not go with --file."""
    if question is not None:
        raise typer.BadParameter("give a question or --file, not both", param_hint="QUESTION")
    if out is None:
        raise typer.BadParameter("say where the answers go: --out answers.jsonl", param_hint="--out")
    if display.as_json:
        raise typer.BadParameter("answers to --file are JSON already", param_hint="--json")
    return out
