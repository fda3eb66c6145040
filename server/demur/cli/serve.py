"""`demur serve`: the options of the server, each of which is a field of its settings."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from demur.cli.loading import load
from demur.dataclass_options import with_options


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What an operator says on the command line. A field is an option, and the field of `demur.settings.Settings` of
    the same name; None leaves that to the environment and to the defaults, which the settings hold."""

    model: Annotated[str | None, typer.Option(help="Model folder or hub id; the embedded model when absent.")] = None
    host: Annotated[str | None, typer.Option(help="Address to listen on. (default: 127.0.0.1)")] = None
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 picks one. (default: 8000)")] = None
    risk_threshold: Annotated[
        float | None, typer.Option("--risk-threshold", "-t", help="For requests that name none. (default: 0.5)")
    ] = None
    min_risk_threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="The lowest one that a request may name. (default: 0)")
    ] = None
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="[vllm|openai|scripted]",
            help="openai: hosts that speak its protocol; scripted: a demo without a model. (default: vllm)",
        ),
    ] = None
    upstreams: Annotated[
        list[str] | None,
        typer.Option(
            "--upstream",
            metavar="URL",
            help="A host for --engine openai, such as http://h:8000/v1; may be repeated.",
        ),
    ] = None
    manifest: Annotated[
        Path | None, typer.Option(help="The model's demur.json, for --engine openai. (default: not calibrated)")
    ] = None
    confidence_source: Annotated[
        str | None, typer.Option(help="The signal that decides where a request names none. (default: verbalized)")
    ] = None
    calibrators: Annotated[
        list[Path] | None,
        typer.Option(
            "--calibrator",
            metavar="FILE",
            help="Made by demur calibrate, applied where it fits; may be repeated.",
        ),
    ] = None
    force_contract: Annotated[
        Literal["auto", "tail", "always", "never"] | None,
        typer.Option(
            help="Force the output form: last lines that cannot be read otherwise (tail), or all of it; auto: tail "
            "unless the model is calibrated. (default: auto)"
        ),
    ] = None
    prompt_wording: Annotated[
        Literal["auto", "trained", "untrained"] | None,
        typer.Option(help="Wording of the prompts; auto: as the model's manifest says. (default: auto)"),
    ] = None
    critic: Annotated[
        Literal["on_demand", "at_start", "off"] | None,
        typer.Option(help="When the critic of a model that has one is loaded. (default: on_demand)"),
    ] = None
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="More words that announce an answer or a confidence; TOML or JSON."),
    ] = None
    allow_withheld: Annotated[
        bool | None, typer.Option(help="Let callers see withheld text. (default: on a loopback address only)")
    ] = None
    keys_file: Annotated[
        Path | None, typer.Option(help="Callers need one of these keys; made by demur keys. (default: no keys)")
    ] = None
    allow_anonymous: Annotated[
        bool | None, typer.Option("--allow-anonymous", help="No keys even on an address that others can reach.")
    ] = None


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """What a server keeps and tells of its answers: options and settings, as those of `ServeOptions`."""

    feedback: Annotated[
        bool | None, typer.Option("--feedback", help="Keep what was answered, to be graded. (default: nothing is kept)")
    ] = None
    feedback_db: Annotated[
        str | None, typer.Option(metavar="FILE|URL", help="The same, kept there. (default: in the user's data folder)")
    ] = None
    store_text: Annotated[
        Literal["none", "audited", "all"] | None,
        typer.Option(help="Which texts are kept; audited: of what is drawn to be graded. (default: audited)"),
    ] = None
    keep_days: Annotated[float | None, typer.Option(help="Days until an answer is deleted. (default: 90)")] = None
    otlp_endpoint: Annotated[
        str | None, typer.Option(metavar="URL", help="Where traces go, OTLP over HTTP. (default: no traces)")
    ] = None
    log_format: Annotated[Literal["json", "text"] | None, typer.Option(help="Of log lines. (default: json)")] = None


@with_options
def serve(
    context: typer.Context,
    options: ServeOptions,
    engine_arg: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="For vLLM, as it is; may be repeated.")
    ] = None,
    *,
    records: RecordOptions,
) -> None:
    """Serve a model over HTTP.

    What stands after -- goes to vLLM as it is: demur serve --model M -- --tensor-parallel-size 2. Every setting is
    also read from the environment, as DEMUR_HOST, DEMUR_MAX_SAMPLES and so on.
    """
    run = load("demur.serving.command:run", "cpu")
    raise typer.Exit(run(_given(options) | _given(records), engine_arg or [], context.args))


def _given(options: ServeOptions | RecordOptions) -> dict[str, Any]:
    """The settings that have a value, by name."""
    values = {option.name: getattr(options, option.name) for option in fields(options)}
    return {name: value for name, value in values.items() if value is not None}
