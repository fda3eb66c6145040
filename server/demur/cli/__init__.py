"""The `demur` command. Each sub-command imports what it needs when it runs, so `demur --help` is instant.

serve.py     demur serve: its options          parse.py      demur parse, which needs no model and no server
loading.py   sub-commands that live elsewhere, imported when they are called
"""

from typing import Annotated

import typer

import demur
from demur.cli.loading import add_lazily
from demur.cli.parse import parse
from demur.cli.serve import serve

main = typer.Typer(
    help="Answers with calibrated confidence: serve a model, ask it, evaluate it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)

_ELSEWHERE = {
    "ask": ("demur.asking:ask", None, "Ask a running server, and see how sure the answer is."),
    "metrics": (
        "demur.evaluation.score_rows:metrics",
        "evaluation",
        "Figures for rows of confidence and correctness.",
    ),
    "evaluate": ("demur.evaluation.cli:evaluate", "evaluation", "Run a data set against a server and grade it."),
    "compare": ("demur.evaluation.cli:compare", "evaluation", "Differences between two runs, with intervals."),
    "report": ("demur.evaluation.cli:report", "evaluation", "Tables and figures of runs as one page."),
    "calibrate": (
        "demur.calibration.calibrate_command:calibrate",
        "calibration",
        "True confidences from graded answers.",
    ),
    "calibrators": (
        "demur.calibration.calibrators_command:app",
        "calibration",
        "Calibrator files: apply, show, list, diff.",
    ),
    "feedback": ("demur.feedback.commands.feedback:feedback", None, "Say whether an answer was right."),
    "grade": ("demur.feedback.commands.grade:grade", None, "Grade answers one by one, with single keys."),
    "keys": ("demur.api_keys.cli:app", "server", "Keys for callers: make, list, revoke."),
    "model": ("demur.model.cli:app", "model", "The embedded model: make it, check it."),
}
"""Sub-commands that other packages implement: import path, pip extra, line of help.
`ask` needs no extra, but the client, which is a distribution of its own; it says so itself."""


@main.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False) -> None:
    if version:
        typer.echo(demur.__version__)
        raise typer.Exit


main.command(context_settings={"allow_extra_args": True})(serve)
main.command()(parse)
for _name, _where in _ELSEWHERE.items():
    add_lazily(main, _name, *_where)
