import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from demur_training import cli, recipes
from demur_training.data.rows import read_file
from demur_training.errors import TrainingError

run = CliRunner().invoke


@pytest.mark.parametrize("command", [[], ["run"], ["data"], ["export"], ["doctor"], ["e2e-smoke"], ["recipes"]])
def test_every_command_explains_itself(command: list[str]) -> None:
    result = run(cli.app, [*command, "--help"])
    assert result.exit_code == 0
    assert "Usage" in result.output


def test_the_recipes_are_listed_with_what_they_are() -> None:
    lines = run(cli.app, ["recipes"]).output.splitlines()
    assert [line.split()[0] for line in lines] == recipes.names()


def test_print_shows_verls_configuration_and_starts_nothing() -> None:
    arguments = ["run", "confidence-ce", "trainer.total_epochs=3", "--print", "--model", "some/model", "--scale", "1x8"]
    shown = yaml.safe_load(run(cli.app, arguments).output)
    assert shown["algorithm"]["adv_estimator"] == "grpo"
    assert (shown["trainer"]["total_epochs"], shown["trainer"]["nnodes"]) == (3, 1)
    assert shown["actor_rollout_ref"]["model"]["path"] == "some/model"


def test_data_is_written_and_reported(tmp_path: Path) -> None:
    source = tmp_path / "sums.jsonl"
    rows = [{"question": f"What is {i % 30}+{i % 30}?", "answer": str(2 * (i % 30))} for i in range(40)]
    source.write_text("\n".join(map(json.dumps, rows)))
    held_out = tmp_path / "eval.jsonl"
    held_out.write_text(json.dumps(rows[3]))
    arguments = ["data", str(source), "--recipe", "confidence-brier", "--out", str(tmp_path / "out")]
    result = run(cli.app, [*arguments, "--against", str(held_out)])
    assert result.exit_code == 0, result.output
    assert "40 rows read, 27 kept for training; left out: 10 duplicate, 1 in an evaluation set" in result.output
    assert (tmp_path / "out" / "train.parquet").is_file()


def test_figures_of_a_validation_file_are_logged_under_its_own_name(tmp_path: Path) -> None:
    for name, start in (("school", 0), ("exams", 50)):
        rows = [{"question": f"What is {i}+{i}?", "answer": str(2 * i)} for i in range(start, start + 20)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    out = tmp_path / "out"
    arguments = ["data", str(tmp_path / "school.jsonl"), "--recipe", "ppo", "--out", str(out)]
    assert run(cli.app, [*arguments, "--val", str(tmp_path / "exams.jsonl")]).exit_code == 0
    assert {row["data_source"] for row in read_file(out / "train.parquet")} == {"school"}
    assert {row["data_source"] for row in read_file(out / "val.parquet")} == {"exams"}
    assert run(cli.app, arguments).exit_code == 0
    assert {row["data_source"] for row in read_file(out / "val.parquet")} == {"school"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "confidence-briar"], "did you mean confidence-brier"),
        (["data", "nowhere.jsonl", "--recipe", "ppo", "--out", "out"], "no such file: nowhere.jsonl"),
        (["data", "x.jsonl", "--recipe", "ppo", "--out", "out", "--domain", "music"], "no such domain: music"),
        (["export", "nowhere", "out"], "no such checkpoint: nowhere"),
    ],
)
def test_mistakes_are_one_line_and_status_two(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TrainingError, match=message):
        run(cli.app, arguments, catch_exceptions=False)
    with pytest.raises(SystemExit) as ended:
        cli.leave(lambda: cli.app(arguments, standalone_mode=False))
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
