"""`demur feedback`: say of one answer whether it was right."""

from importlib.util import find_spec
from typing import Annotated, Literal

import typer

from demur.asking.exits import fail

BaseUrl = Annotated[str | None, typer.Option(help="The server; DEMUR_BASE_URL, or this machine, when absent.")]
ApiKey = Annotated[str | None, typer.Option(help="Better set DEMUR_API_KEY: other users see command lines.")]


def check_client() -> None:
    """Leave with one line where the client is not installed."""
    if not find_spec("demur_client"):
        fail("this command needs the client: pip install demur-client (or, in the repository, ./clients/python)")


def feedback(
    answer: Annotated[str, typer.Argument(metavar="ID", help="The answer's id, as its reply has it: ans_...")],
    verdict: Annotated[
        Literal["right", "wrong", "undo"] | None, typer.Argument(help="undo takes the verdict back.")
    ] = None,
    gold: Annotated[str | None, typer.Option(help="The known answer; the server compares, no verdict needed.")] = None,
    claim: Annotated[int | None, typer.Option(min=0, help="The claim that is meant, counted from 0.")] = None,
    sample: Annotated[int | None, typer.Option(min=0, help="The sample that is meant, counted from 0.")] = None,
    base_url: BaseUrl = None,
    api_key: ApiKey = None,
) -> None:
    """Tell a server that keeps what it answers (demur serve --feedback) whether an answer was right."""
    if (verdict is None) == (gold is None):
        raise typer.BadParameter("say right, wrong or undo, or give --gold", param_hint="VERDICT")
    check_client()
    from demur.asking.one import explained
    from demur_client import Client, DemurError

    correct = {"right": True, "wrong": False}.get(verdict or "undo")
    try:
        with Client(base_url=base_url, api_key=api_key) as client:
            kept = client.feedback(answer, correct=correct, gold=gold, claim=claim, sample=sample)
    except (DemurError, ValueError) as error:
        fail(explained(error))
    typer.echo(f"{kept.answer_id} {kept.verdict} ({kept.source}{', as before' if kept.repeated else ''})")
