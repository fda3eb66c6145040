"""The options of `demur ask`: what is asked for, how replies are shown, a file in place of one question, and where."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.cli_options import key_option
from demur.core.answers import Granularity
from demur.core.contracts import CONTRACTS
from demur.core.selection import RULES

if TYPE_CHECKING:
    from demur.asking.one import Shown


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What every request asks for. A field is an option, and a field of the request; None leaves it to the server."""

    risk_threshold: Annotated[
        float | None,
        typer.Option("--risk-threshold", "-t", min=0, max=1, help="Abstain below this confidence, 0 to 1."),
    ] = None
    max_error: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="In place of it: the share of given answers that may be wrong."),
    ] = None
    contract: Annotated[str | None, key_option(CONTRACTS, help="How the model states its confidence.")] = None
    granularity: Annotated[
        Granularity | None, typer.Option(help="Decide on the whole response, or mark single claims.")
    ] = None
    confidence_source: Annotated[
        str | None, typer.Option(metavar="SIGNAL", help="What decides: verbalized, p_true, ...; see GET /v1/models.")
    ] = None
    samples: Annotated[int | None, typer.Option(min=1, help="Draw several answers and choose one.")] = None
    selection: Annotated[str | None, key_option(RULES, help="How one of several samples is chosen.")] = None
    include_signals: Annotated[
        list[str] | None,
        typer.Option(
            "--include-signals", "--signal", metavar="SIGNAL", help="Show this one, too; may be given several times."
        ),
    ] = None
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Longest output, in tokens.")] = None
    include_withheld: Annotated[bool, typer.Option("--withheld", help="Show what was withheld, if the server may.")] = (
        False
    )

    def as_request(self) -> dict[str, Any]:
        """Fields of the request by name, as `demur_client` takes them; an empty list and a flag not given are None."""
        return {name: None if value is False or value == [] else value for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """How the reply to one question is shown."""

    as_json: Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")] = False
    stream: Annotated[
        bool | None,
        typer.Option("--stream/--no-stream", help="Show the answer while it is made, or once it is there."),
    ] = None
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour, as with NO_COLOR set.")] = False

    @property
    def shown(self) -> "Shown":
        """JSON comes whole unless its events are asked for."""
        if self.as_json:
            return "json_events" if self.stream else "json"
        return "whole" if self.stream is False else "live"


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """A file of questions in place of one, and where the answers go."""

    file: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help='Questions, JSON Lines, JSON, CSV or Parquet: "question" or "messages"; "id".',
        ),
    ] = None
    out: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Where the answers to --file go. Run again to go on.")
    ] = None
    concurrency: Annotated[int, typer.Option(min=1, help="Questions asked at the same time, with --file.")] = 8


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Which server is asked, and the key for it; a field is a parameter of `demur_client.Client`."""

    base_url: Annotated[
        str | None,
        typer.Option("--base-url", "--url", help="The server; DEMUR_BASE_URL, or this machine, when absent."),
    ] = None
    api_key: Annotated[str | None, typer.Option(help="Better set DEMUR_API_KEY: other users see command lines.")] = None
