"""`demur calibrate --ask`: ask a server first, grade what it says, and go on from there."""

import asyncio
from pathlib import Path

import typer

from demur.calibration.errors import CalibrationError
from demur.evaluation.job import Job, job_of
from demur.evaluation.run_config import RunConfig
from demur.named_file import shown


def ask_and_grade(
    questions: Path, folder: Path, *, base_url: str, api_key: str | None, contract: str, signals: str | None
) -> Path:
    """The folder of a finished run over these questions; a run that was stopped there goes on.

    Asked for the raw confidence, whatever the server is calibrated with now. Raises CalibrationError where questions
    got no answer: leaving them out would choose among the graded answers, and a promise of the rest would not hold.
    """
    from demur.evaluation.datasets import load
    from demur.evaluation.run import evaluate

    config = RunConfig(
        str(questions),
        base_url=base_url,
        api_key=api_key,
        contract=contract,
        confidence_source="verbalized",
        include_signals=signals,
    )
    loaded = load(config.dataset, data=None, split=None, limit=None, domain=None, grader=None)
    job: Job = job_of(config, loaded, folder)
    typer.echo(f"asking {len(loaded.questions):,} questions; what is answered is kept in {shown(folder)}", err=True)
    done = asyncio.run(evaluate(job))
    if done.failures:
        raise CalibrationError(f"{done.sentences()[-1]}; the same command asks them again")
    return folder
