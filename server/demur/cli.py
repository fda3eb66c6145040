"""The `demur` command. Each sub-command loads what it needs when it runs, so `demur --help` is instant."""

import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

import demur
from demur.cli_options import key_option
from demur.core.answers import Aggregation
from demur.core.contracts import CONTRACTS

if TYPE_CHECKING:
    from demur.core.parsing.labels import Labels

main = typer.Typer(
    help="Answers with calibrated confidence: serve a model, ask it, evaluate it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)

_ELSEWHERE = {
    "ask": ("demur.asking:ask", None, "Ask a running server, and see how sure the answer is."),
    "metrics": ("demur.evaluation.cli:metrics", "evaluation", "Figures for rows of confidence and correctness."),
    "evaluate": ("demur.evaluation.cli:evaluate", "evaluation", "Run a data set against a server and grade it."),
    "compare": ("demur.evaluation.cli:compare", "evaluation", "Differences between two runs, with intervals."),
    "report": ("demur.evaluation.cli:report", "evaluation", "Tables and figures of runs as one page."),
    "calibrate": ("demur.calibration.command:calibrate", "calibration", "True confidences from graded answers."),
    "calibrators": ("demur.calibration.calibrators:app", "calibration", "Calibrator files: apply, show, list, diff."),
    "keys": ("demur.keys.cli:app", "server", "Keys for callers: make, list, revoke."),
    "model": ("demur.model.cli:app", "model", "The embedded model: make it, check it."),
}
"""Sub-commands that other packages implement: import path, pip extra, line of help.
`ask` needs no extra, but the client, which is a distribution of its own; it says so itself."""
_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


def fail(message: str, status: int = 1) -> NoReturn:
    """Say what went wrong in one line and leave."""
    typer.echo(f"demur: {message}", err=True)
    raise typer.Exit(status)


def load(target: str, extra: str | None) -> Any:
    """`module:name`, imported now. A package that is not installed is one clear line."""
    module, name = target.split(":")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "demur":
            raise
        package = f'"demur[{extra}]"' if extra else "demur"
        fail(f"this command needs {error.name}: pip install {package}")


@main.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False) -> None:
    if version:
        typer.echo(demur.__version__)
        raise typer.Exit


@main.command(context_settings={"allow_extra_args": True})
def serve(
    context: typer.Context,
    model: Annotated[str | None, typer.Option(help="Model folder or hub id; the embedded model when absent.")] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on. (default: 127.0.0.1)")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 picks one. (default: 8000)")] = None,
    risk_threshold: Annotated[
        float | None, typer.Option("--risk-threshold", "-t", help="For requests that name none. (default: 0.5)")
    ] = None,
    min_risk_threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="The lowest one that a request may name. (default: 0)")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="[vllm|openai|scripted]",
            help="openai: hosts that speak its protocol; scripted: a demo without a model. (default: vllm)",
        ),
    ] = None,
    upstream: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="A host for --engine openai, such as http://h:8000/v1; may be repeated."),
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option(help="The model's demur.json, for --engine openai. (default: not calibrated)")
    ] = None,
    confidence_source: Annotated[
        str | None, typer.Option(help="The signal that decides where a request names none. (default: verbalized)")
    ] = None,
    calibrator: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Made by demur calibrate, applied where it fits; may be repeated."),
    ] = None,
    force_contract: Annotated[
        Literal["auto", "tail", "always", "never"] | None,
        typer.Option(
            help="Force the output form: last lines that cannot be read otherwise (tail), or all of it; auto: tail "
            "unless the model is calibrated. (default: auto)"
        ),
    ] = None,
    prompt_wording: Annotated[
        Literal["auto", "trained", "untrained"] | None,
        typer.Option(help="Wording of the prompts; auto: as the model's manifest says. (default: auto)"),
    ] = None,
    critic: Annotated[
        Literal["on_demand", "at_start", "off"] | None,
        typer.Option(help="When the critic of a model that has one is loaded. (default: on_demand)"),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="More words that announce an answer or a confidence; TOML or JSON."),
    ] = None,
    allow_withheld: Annotated[
        bool | None, typer.Option(help="Let callers see withheld text. (default: on a loopback address only)")
    ] = None,
    keys_file: Annotated[
        Path | None, typer.Option(help="Callers need one of these keys; made by demur keys. (default: no keys)")
    ] = None,
    allow_anonymous: Annotated[
        bool | None, typer.Option("--allow-anonymous", help="No keys even on an address that others can reach.")
    ] = None,
    engine_arg: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="For vLLM, as it is; may be repeated.")
    ] = None,
    otlp_endpoint: Annotated[
        str | None, typer.Option(metavar="URL", help="Where traces go, OTLP over HTTP. (default: no traces)")
    ] = None,
    log_format: Annotated[Literal["json", "text"] | None, typer.Option(help="Of log lines. (default: json)")] = None,
) -> None:
    """Serve a model over HTTP.

    What stands after -- goes to vLLM as it is: demur serve --model M -- --tensor-parallel-size 2. Every setting is
    also read from the environment, as DEMUR_HOST, DEMUR_MAX_SAMPLES and so on.
    """
    named = {
        "model": model,
        "host": host,
        "port": port,
        "risk_threshold": risk_threshold,
        "min_risk_threshold": min_risk_threshold,
        "engine": engine,
        "upstreams": upstream,
        "manifest": manifest,
        "confidence_source": confidence_source,
        "calibrators": calibrator,
        "force_contract": force_contract,
        "prompt_wording": prompt_wording,
        "labels": labels,
        "critic": critic,
        "allow_withheld": allow_withheld,
        "keys_file": keys_file,
        "allow_anonymous": allow_anonymous,
        "otlp_endpoint": otlp_endpoint,
        "log_format": log_format,
    }
    run = load("demur.serving.command:run", "server")
    chosen = {name: value for name, value in named.items() if value is not None}
    raise typer.Exit(run(chosen, engine_arg or [], context.args))


@main.command()
def parse(
    source: Annotated[str, typer.Argument(metavar="FILE|-", help="A file, or - for standard input.")],
    strict: Annotated[bool, typer.Option("--strict", help="Take only the trained form, as training does.")] = False,
    contract: Annotated[str | None, key_option(CONTRACTS, help="Detected from the text when absent.")] = None,
    aggregation: Annotated[Aggregation, typer.Option(help="From claim confidences to the confidence.")] = "min",
    scale: Annotated[
        float | None,
        typer.Option(
            metavar="TOP", min=1, help="What the prompt asked for: 100 for 0 to 100. (default: a probability)"
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="More words for labels, TOML or JSON: answer = [...], confidence = [...]."),
    ] = None,
) -> None:
    """Read answer, confidence and claims out of any model output, and print them as JSON.

    An output that is nothing but private thought is read as a last resort, with the problem read_from_thought.
    """
    from demur.core.reader import detect_contract, read

    if strict and labels is not None:
        fail("--labels is for the lenient mode: the trained form, which --strict takes, has its own labels", 2)
    table = _labels_of(labels)
    text = _text_of(source)
    found = read(
        text,
        contract or detect_contract(text),
        "strict" if strict else "lenient",
        aggregation=aggregation,
        scale=scale,
        labels=table,
        thought_counts=True,
    )
    claims = [
        {"text": c.text, "confidence": c.confidence, "explanation": c.explanation, "problems": c.problems}
        for c in found.claims
    ]
    reading = {
        "answer": found.answer,
        "confidence": found.confidence,
        "state": found.state,
        "claims": claims,
        "problems": found.problems,
    }
    typer.echo(json.dumps(reading, ensure_ascii=False))


def _labels_of(path: Path | None) -> "Labels":
    from demur.core.parsing.labels import LABELS
    from demur.label_file import read_labels
    from demur.named_file import FileError

    try:
        return LABELS if path is None else read_labels(path)
    except FileError as error:
        fail(f"--labels: {error}", 2)


def _text_of(source: str) -> str:
    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        fail(f"cannot read {source}: {error.strerror}", 2)
    return data.decode("utf-8", "replace")


def _pass_on(name: str, target: str, extra: str | None, line: str) -> None:
    """Add a sub-command that is loaded only when it is called; it parses its own arguments."""

    def run(context: typer.Context) -> None:
        found = load(target, extra)
        if not isinstance(found, typer.Typer):
            function, found = found, typer.Typer(add_completion=False, pretty_exceptions_show_locals=False)
            found.command(name)(function)
        found(args=context.args, prog_name=context.command_path)

    main.command(name, help=line, context_settings=_PASSED_ON, add_help_option=False)(run)


for _name, _where in _ELSEWHERE.items():
    _pass_on(_name, *_where)
