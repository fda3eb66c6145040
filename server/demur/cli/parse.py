"""`demur parse`: answer, confidence and claims out of any model output, as JSON."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from demur.cli.loading import fail
from demur.cli_options import key_option
from demur.core.answers import Aggregation, Completion
from demur.core.contracts import CONTRACTS
from demur.dataclass_options import with_options

if TYPE_CHECKING:
    from demur.core.parsing.labels import Labels


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """How an output is read. A field is an option of `demur parse`."""

    strict: Annotated[bool, typer.Option("--strict", help="Take only the trained form, as training does.")] = False
    contract: Annotated[str | None, key_option(CONTRACTS, help="Detected from the text when absent.")] = None
    aggregation: Annotated[Aggregation, typer.Option(help="From claim confidences to the confidence.")] = "min"
    scale: Annotated[
        float | None,
        typer.Option(
            metavar="TOP", min=1, help="What the prompt asked for: 100 for 0 to 100. (default: a probability)"
        ),
    ] = None
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="More words for labels, TOML or JSON: answer = [...], confidence = [...]."),
    ] = None


@with_options
def parse(
    source: Annotated[str, typer.Argument(metavar="FILE|-", help="A file, or - for standard input.")],
    options: ParseOptions,
) -> None:
    """Read answer, confidence and claims out of any model output, and print them as JSON.

    An output that is nothing but private thought is read as a last resort, with the problem read_from_thought.
    """
    if options.strict and options.labels is not None:
        fail("--labels is for the lenient mode: the trained form, which --strict takes, has its own labels", 2)
    labels = _labels_of(options.labels)
    typer.echo(json.dumps(_as_record(_read(_text_of(source), options, labels)), ensure_ascii=False))


def _read(text: str, options: ParseOptions, labels: "Labels") -> Completion:
    from demur.core.reader import detect_contract, read

    return read(
        text,
        options.contract or detect_contract(text),
        "strict" if options.strict else "lenient",
        aggregation=options.aggregation,
        scale=options.scale,
        labels=labels,
        thought_counts=True,
    )


def _as_record(found: Completion) -> dict[str, Any]:
    claims = [
        {"text": c.text, "confidence": c.confidence, "explanation": c.explanation, "problems": c.problems}
        for c in found.claims
    ]
    return {
        "answer": found.answer,
        "confidence": found.confidence,
        "state": found.state,
        "claims": claims,
        "problems": found.problems,
    }


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
