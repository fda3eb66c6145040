"""`demur calibrators`: apply a calibrator to rows, or test it on them; show, list and compare files; switch what is
served."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from demur.calibration.check_installed import check_installed
from demur.evaluation.commands import console, one_line_errors

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(
    help="Calibrator files made by demur calibrate: apply, test, show, list, compare, serve.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


@app.callback()
def libraries() -> None:
    check_installed()


File = Annotated[Path, typer.Argument(metavar="FILE", help="A calibrator file.")]


@app.command()
def apply(
    file: File,
    rows: Annotated[Path, typer.Argument(metavar="ROWS|RUN", help='Rows as JSON lines, "-", or the folder of a run.')],
    out: Annotated[Path | None, typer.Option(help="Write here. (default: standard output)")] = None,
) -> None:
    """Print rows with their confidence replaced by the calibrated one; the raw one is kept as raw_confidence."""
    from demur.calibration.apply import applied, rows_for
    from demur.calibration.calibrator_file import read

    with one_line_errors():
        calibrator = read(file)
        lines = [json.dumps(row, ensure_ascii=False) for row in applied(calibrator, rows_for(calibrator, rows))]
    text = "".join(line + "\n" for line in lines)
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")


@app.command()
def test(
    file: File,
    rows: Annotated[
        Path, typer.Argument(metavar="ROWS|RUN", help="Graded rows that it was not made from, or a run's folder.")
    ],
) -> None:
    """How good it is on other graded answers, and whether its promises hold: how many answers each threshold gives,
    and how many are wrong.

    Nothing is asked: a threshold decides about the confidences in the rows. Intervals count one answer a question.
    """
    from demur.calibration.apply import rows_for
    from demur.calibration.calibrator_file import read
    from demur.calibration.listing import show_kept
    from demur.calibration.promise_check import before_and_after, kept_promises

    with one_line_errors():
        calibrator = read(file)
        graded = rows_for(calibrator, rows)
        kept, differences = kept_promises(calibrator, graded), before_and_after(calibrator, graded)
    show_kept(console(), kept, differences)


@app.command()
def show(
    file: File,
    as_json: Annotated[bool, typer.Option("--json", help="Print the file's fields as JSON.")] = False,
) -> None:
    """What a calibrator was made from, what it changed, and what it promises."""
    from demur.calibration.calibrator_file import read
    from demur.calibration.listing import show_file

    with one_line_errors():
        calibrator = read(file)
    if as_json:
        typer.echo(json.dumps(calibrator.model_dump(mode="json"), indent=1, ensure_ascii=False))
    else:
        show_file(console(), calibrator)


@app.command("list")
def list_files(
    place: Annotated[
        Path,
        typer.Argument(metavar="FOLDER|SERVED", help="A folder of calibrator files, or the one a server follows."),
    ] = Path("."),
) -> None:
    """The calibrators in a folder, the newest first; files that cannot be used are named with the reason.

    Of the file that a server follows: every version that was served or tried in its place, with parent and figures.
    """
    from demur.calibration.listing import found_in, list_table, versions_table
    from demur.calibration.versions import Versions

    if not place.is_dir() and (place.exists() or Versions(place).folder.is_dir()):
        console().print(versions_table(Versions(place)))
        return
    with one_line_errors():
        good, bad = found_in(place)
    console().print(list_table(good))
    for why in bad:
        typer.echo(f"not used: {why}", err=True)


@app.command()
def use(
    version: Annotated[
        str | None,
        typer.Argument(metavar="FILE|ID", help="A calibrator file, or a version's id as list has it."),
    ] = None,
    *,
    served: Annotated[Path, typer.Option(metavar="FILE", help="The file that demur serve --calibrator follows.")],
    back: Annotated[bool, typer.Option("--back", help="Serve again what was served before.")] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Also one for another model, contract or level than the served one's.")
    ] = False,
) -> None:
    """Switch the calibrator that a running server serves; it looks at its file every second.

    What was served before is kept beside the file, in a folder that ends in .versions; --back goes back to it.
    """
    from demur.calibration.versions import Versions

    if (version is None) != back:
        raise typer.BadParameter("name a file or an id, or give --back", param_hint="FILE|ID")
    with one_line_errors():
        versions = Versions(served)
        before = versions.current()
        now = versions.back() if version is None else versions.use(version, anyway=anyway)
    was = "" if before is None or before.id == now.id else f", before {before.id}"
    typer.echo(f"{served} is now {now.id}, made {now.made}{was}")


@app.command()
def shadow(
    version: Annotated[
        str | None,
        typer.Argument(metavar="FILE|ID", help="A calibrator file, or a version's id as list has it."),
    ] = None,
    *,
    served: Annotated[Path, typer.Option(metavar="FILE", help="The file that demur serve --calibrator follows.")],
    end: Annotated[bool, typer.Option("--end", help="Let none compute beside the served one any more.")] = False,
) -> None:
    """Let a calibrator compute beside the served one on live answers, without effect on replies.

    A server that keeps what it answers (demur serve --feedback) counts what would have been decided otherwise, and who
    was right among the audits that were graded: demur calibrators diff --feedback shows it.
    """
    from demur.calibration.versions import Versions

    if (version is None) != end:
        raise typer.BadParameter("name a file or an id, or give --end", param_hint="FILE|ID")
    with one_line_errors():
        if version is None:
            Versions(served).end_shadow()
            typer.echo(f"none computes beside {served} now")
        else:
            typer.echo(f"{Versions(served).try_beside(version).id} computes beside {served} now")


@app.command()
def diff(
    first: File,
    second: File,
    feedback: Annotated[
        str | None,
        typer.Option(
            metavar="URL|FILE",
            help="Also what they decided on live answers: the server where one is the other's shadow, or its"
            " --feedback-db. The key is in DEMUR_API_KEY.",
        ),
    ] = None,
) -> None:
    """What differs between two calibrators: where they came from, their figures, their thresholds."""
    from demur.calibration.calibrator_file import read
    from demur.calibration.listing import diff_table

    with one_line_errors():
        pair = read(first), read(second)
        lived = None if feedback is None else live_table(feedback, pair[0].id, pair[1].id)
    console().print(diff_table(*pair))
    if lived is not None:
        console().print(lived)


def live_table(place: str, first: str, second: str) -> "Table":
    """What two calibrators decided about the same live answers. Raises CalibrationError where none were compared."""
    from demur.feedback.comparing import comparison, comparison_table

    return comparison_table(comparison(place, first, second))
