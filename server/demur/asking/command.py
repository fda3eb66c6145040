"""The options of `demur ask`."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from demur.asking.exits import fail
from demur.cli_options import key_option
from demur.core.answers import Granularity
from demur.core.contracts import CONTRACTS


def ask(
    question: Annotated[str | None, typer.Argument(help="The question; - reads it from standard input.")] = None,
    risk_threshold: Annotated[
        float | None,
        typer.Option("--risk-threshold", "-t", min=0, max=1, help="Abstain below this confidence, 0 to 1."),
    ] = None,
    max_error: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="In place of it: the share of given answers that may be wrong."),
    ] = None,
    contract: Annotated[str | None, key_option(CONTRACTS, help="How the model states its confidence.")] = None,
    granularity: Annotated[
        Granularity | None, typer.Option(help="Decide on the whole response, or mark single claims.")
    ] = None,
    confidence_source: Annotated[
        str | None, typer.Option(metavar="SIGNAL", help="What decides: verbalized, p_true, ...; see GET /v1/models.")
    ] = None,
    signal: Annotated[
        list[str] | None, typer.Option(metavar="SIGNAL", help="Show this one beside the confidence; may be repeated.")
    ] = None,
    samples: Annotated[int | None, typer.Option(min=1, help="Draw several answers and choose one.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Longest output, in tokens.")] = None,
    withheld: Annotated[bool, typer.Option("--withheld", help="Show what was withheld, if the server may.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour, as with NO_COLOR set.")] = False,
    file: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help='Questions, JSON Lines, JSON, CSV or Parquet: "question" or "messages"; "id".',
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Where the answers to --file go. Run again to go on.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Questions asked at the same time, with --file.")] = 8,
    base_url: Annotated[
        str | None, typer.Option(help="The server; DEMUR_BASE_URL, or this machine, when absent.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(help="Better set DEMUR_API_KEY: other users see command lines.")
    ] = None,
) -> None:
    """Ask a running server, and see how sure the answer is.

    Exit status: 0 answered, 3 abstained, 1 failed, 2 wrong command line.

    With --file it is 0 when every question has a reply, abstentions included.
    """
    if not find_spec("demur_client"):
        fail("this command needs the client: pip install demur-client (or, in the repository, ./clients/python)")
    from demur.asking import many, one

    options = {
        "risk_threshold": risk_threshold,
        "max_error": max_error,
        "contract": contract,
        "granularity": granularity,
        "confidence_source": confidence_source,
        "include_signals": signal or None,
        "samples": samples,
        "max_tokens": max_tokens,
        "include_withheld": withheld or None,
    }
    server: dict[str, Any] = {"base_url": base_url, "api_key": api_key}
    if file is not None:
        _check_file_options(question, out, as_json)
        status = many.ask_file(file, out or Path(), concurrency, server, options, no_color=no_color)
    else:
        if out is not None:
            raise typer.BadParameter("goes with --file", param_hint="--out")
        status = one.ask_one(_question(question), server, options, as_json=as_json, no_color=no_color)
    raise typer.Exit(status)


def _question(given: str | None) -> str:
    if given == "-":
        given = sys.stdin.read()
    if given is None or not given.strip():
        raise typer.BadParameter('ask something: demur ask "What is 17 * 24?"', param_hint="QUESTION")
    return given


def _check_file_options(question: str | None, out: Path | None, as_json: bool) -> None:
    if question is not None:
        raise typer.BadParameter("give a question or --file, not both", param_hint="QUESTION")
    if out is None:
        raise typer.BadParameter("say where the answers go: --out answers.jsonl", param_hint="--out")
    if as_json:
        raise typer.BadParameter("answers to --file are JSON already", param_hint="--json")
