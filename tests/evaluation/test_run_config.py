"""The settings of a run: written once, and everything else derived from them."""

from dataclasses import dataclass, fields
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from demur.dataclass_options import with_options
from demur.evaluation.datasets import load
from demur.evaluation.evaluate_command import evaluate
from demur.evaluation.field_marks import SENT, growing, recorded
from demur.evaluation.job import job_of, request_of
from demur.evaluation.run_config import SAMPLING, RunConfig, option
from demur.evaluation.run_manifest import plan_of

ON_THE_MANIFEST = {
    "dataset", "source", "sha256", "questions", "limit", "domain", "grader", "base_url", "api", "model", "bare",
    "contract",
    "granularity", "aggregation", "confidence_source", "include_signals", "samples", "selection", "risk_thresholds",
    "temperature",
    "top_p", "max_tokens", "seed", "extra", "judge", "judge_sees_confidence", "prompt",
    "max_error",
}  # fmt: skip
"""Of every run folder that was ever written: the names may not change."""


@dataclass(frozen=True, slots=True)
class Wider(RunConfig):
    """A configuration with one more request field."""

    presence_penalty: Annotated[float | None, option(SAMPLING, "Less of the same."), SENT] = None


def test_a_request_field_is_one_line():
    app = typer.Typer()
    built = []

    @app.command()
    @with_options
    def run(config: Wider):
        built.append(config)

    result = CliRunner().invoke(app, ["questions.jsonl", "--presence-penalty", "0.5"])
    assert result.exit_code == 0, result.output
    assert built == [Wider("questions.jsonl", presence_penalty=0.5)]
    assert request_of(built[0]).fields["presence_penalty"] == 0.5
    assert recorded(built[0])["presence_penalty"] == 0.5
    assert "presence_penalty" not in growing(Wider)
    assert "Less of the same." in CliRunner().invoke(app, ["--help"]).output


def test_the_manifest_keeps_its_names(sums, tmp_path):
    job = job_of(RunConfig(str(sums(2))), load(str(sums(2))), tmp_path)
    plan = plan_of(job)
    assert set(plan) == ON_THE_MANIFEST
    assert (plan["dataset"], plan["questions"], plan["granularity"], plan["risk_thresholds"]) == (
        "sums.jsonl", 2, "response", [],
    )  # fmt: skip
    assert growing(RunConfig) == {"limit", "samples", "risk_thresholds", "base_url"}


def test_no_key_is_recorded_sent_or_shown():
    config = RunConfig("questions", api_key="sk-secret", judge_api_key="sk-secret")
    assert "sk-secret" not in repr((config, recorded(config), request_of(config)))


def test_every_setting_is_an_option_with_its_own_default():
    app, built = typer.Typer(), []

    @app.command()
    @with_options
    def run(config: RunConfig):
        built.append(config)

    result = CliRunner().invoke(app, ["questions"], env={"DEMUR_BASE_URL": None, "DEMUR_API_KEY": None})
    assert result.exit_code == 0, result.output
    assert built == [RunConfig("questions")]


def test_the_command_has_every_setting():
    app = typer.Typer()
    app.command()(evaluate)
    names = {parameter.name for parameter in typer.main.get_command(app).params}
    assert {field.name for field in fields(RunConfig)} <= names


@pytest.mark.parametrize("api", ["answers", "chat"])
def test_samples_are_drawn_one_by_one_unless_the_server_chooses(api):
    config = RunConfig("questions", api=api, model="m", samples=4, seed=7)
    assert "samples" not in request_of(config).fields
    chosen = request_of(RunConfig("questions", api=api, model="m", samples=4, selection="maxconf")).fields
    assert ("samples" in chosen) == (api == "answers")
