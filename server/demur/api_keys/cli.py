"""`demur keys`: make, list and revoke the keys in a file. A running server takes changes up by itself."""

from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer
from pydantic import ValidationError

from demur.api_keys.file import KeyFile, Keys, KeysError
from demur.api_keys.key import LARGEST, Key, make_key
from demur.named_file import shown

app = typer.Typer(
    help="Keys for callers, kept as hashes in a file that a running server follows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
File = Annotated[Path, typer.Option("--file", "-f", envvar="DEMUR_KEYS_FILE", help="The file of keys.")]
Most = typer.Option(min=1, max=LARGEST, show_default="no limit")


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    file: File,
    requests_per_minute: Annotated[int | None, Most] = None,
    tokens_per_minute: Annotated[int | None, Most] = None,
    concurrent_samples: Annotated[int | None, Most] = None,
    max_samples: Annotated[int | None, Most] = None,
    min_risk_threshold: Annotated[
        float, typer.Option(min=0, max=1, help="The lowest risk threshold that the holder may ask with.")
    ] = 0.0,
    withheld: Annotated[bool, typer.Option("--withheld", help="Let the holder see withheld text.")] = False,
    abstain_as: Annotated[
        Literal["content", "refusal", "error"] | None,
        typer.Option(help="How chat completions tell the holder that there is no answer."),
    ] = None,
    grade: Annotated[
        bool, typer.Option("--grade", help="Let the holder see and grade what others were answered, withheld or not.")
    ] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Let the holder take graded rows to calibrate, and delete answers.")
    ] = False,
) -> None:
    """Make a key and print it. It is shown this once; the file keeps a hash."""
    try:
        key, text = make_key(
            name,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            concurrent_samples=concurrent_samples,
            max_samples=max_samples,
            min_risk_threshold=min_risk_threshold,
            withheld=withheld,
            abstain_as=abstain_as,
            grade=grade,
            calibrate=calibrate,
        )
        KeyFile(file).change(lambda keys: (*keys, key))
    except KeysError as error:
        _fail(str(error))
    except ValidationError as error:
        _fail(_problem(error))
    typer.echo(text)


@app.command("list")
def list_keys(file: File) -> None:
    """The keys and what they allow."""
    try:
        for key in KeyFile(file).read():
            typer.echo(f"{key.id}  {key.created}  {key.name}  {_limits(key)}".rstrip())
    except KeysError as error:
        _fail(str(error))


@app.command()
def revoke(
    which: Annotated[str, typer.Argument(metavar="ID|NAME", help="As `demur keys list` shows it.")], file: File
) -> None:
    """Take a key out of the file. Requests that are already running are finished.

    What reads the file, by this name or by another and as whatever user, reads the new one; where that cannot be,
    nothing is changed, and the exit status is 1.
    """

    def without(keys: Keys) -> Keys:
        found = [key for key in keys if key.id == which] or [key for key in keys if key.name == which]
        if len(found) != 1:
            raise KeysError(f"{shown(file)}: {'no key' if not found else 'more than one key'} {which!r}")
        return tuple(key for key in keys if key not in found)

    try:
        KeyFile(file).read()
        KeyFile(file).change(without)
    except KeysError as error:
        _fail(str(error))


def _problem(error: ValidationError) -> str:
    detail = error.errors(include_input=False)[0]
    field = str(detail["loc"][0])
    return "a name is 1 to 100 printable characters" if field == "name" else f"{field}: {detail['msg']}"


def _limits(key: Key) -> str:
    limits = key.model_dump(exclude_defaults=True, exclude={"id", "name", "sha256", "created"})
    return " ".join(name if value is True else f"{name}={value}" for name, value in limits.items())


def _fail(message: str) -> NoReturn:
    typer.echo(f"demur: {message}", err=True)
    raise typer.Exit(1)
