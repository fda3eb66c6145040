"""`demur metrics` as a person runs it."""

import json
import random
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from demur.core.metrics import METRICS
from demur.evaluation import cli

app = typer.Typer()
app.command("metrics")(cli.metrics)


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


@pytest.fixture
def rows(tmp_path):
    draw = random.Random(0)
    path = tmp_path / "rows.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for k in range(120):
            p = round(draw.random(), 2)
            row = {"problem": f"q{k % 60}", "sample": k // 60, "confidence": p, "correct": draw.random() < p}
            file.write(json.dumps(row) + "\n")
        file.write('{"problem": "last", "confidence": "high", "correct": false}\n')
    return path


def test_tables_name_every_figure_and_objective(rows):
    result = run(rows)
    assert result.exit_code == 0, result.output
    for metric in METRICS.values():
        assert metric.label in result.output
    for words in ("adaptive risk", "accuracy kept", "hallucination reduced", "quantitative", "pass"):
        assert words in result.output
    assert "121 rows about 61 problems." in result.output
    assert "1 an unreadable one" in result.output
    assert "'high'" in result.output


def test_json_has_the_wire_shape(rows):
    wire = json.loads(run(rows, "--json").output)
    assert set(wire) == {"n", "missing", *METRICS}
    assert (wire["n"], wire["missing"]) == (121, 1)
    assert wire["auc"]["low"] < wire["auc"]["value"] < wire["auc"]["high"]


VECTORS = Path(__file__).parent.parent / "vectors" / "metrics"


@pytest.mark.parametrize("path", sorted(VECTORS.glob("*.json")), ids=lambda path: path.stem)
def test_wire_vectors(path):
    vector = json.loads(path.read_text(encoding="utf-8"))
    lines = "\n".join(json.dumps(row) for row in vector["rows"])
    wire = json.loads(run("-", "--json", *vector["arguments"], stdin=lines).output)
    for name, expected in vector["output"].items():
        if isinstance(expected, dict):
            assert wire[name]["value"] == pytest.approx(expected["value"], abs=2e-3 if name == "smece" else 1e-6), name
        else:
            assert wire[name] == expected, name
        if expected is None:
            assert wire["reasons"][name]


def test_missing_changes_everything_but_accuracy(rows):
    skip, abstain = (json.loads(run(rows, "--json", "--missing", how).output) for how in ("skip", "abstain"))
    assert skip["accuracy"] == abstain["accuracy"]
    assert skip["mean_confidence"]["value"] > abstain["mean_confidence"]["value"]


def test_a_baseline_settles_accuracy_kept(rows):
    result = run(rows, "--baseline", rows)
    line = next(line for line in result.output.splitlines() if "accuracy lost" in line)
    assert "0.000" in line
    assert "pass" in line


def test_figures_are_written(rows, tmp_path):
    result = run(rows, "--figures", tmp_path / "out" / "figures")
    assert result.exit_code == 0, result.output
    names = sorted(path.name for path in (tmp_path / "out" / "figures").iterdir())
    assert names == [f"{name}.{kind}" for name in ("decisions", "reliability", "thresholds") for kind in ("png", "svg")]
    assert (tmp_path / "out" / "figures" / "reliability.png").read_bytes().startswith(b"\x89PNG")


def test_standard_input_and_bad_lines():
    good = run("-", stdin='{"problem": 1, "confidence": 0.5, "correct": true}\n')
    assert good.exit_code == 0, good.output
    bad = run("-", stdin='{"problem": 1}\n')
    assert bad.exit_code == 1
    assert bad.output.startswith("error: - line 1:")
    assert len(bad.output.splitlines()) == 1


def test_rows_that_nobody_graded_are_said_so(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"problem": 1, "confidence": 0.5, "correct": null}\n' * 2, encoding="utf-8")
    result = run(path, "--figures", tmp_path / "figures")
    assert result.exit_code == 0, result.output
    assert "2 rows could not be graded" in result.output
    assert "no rows" in result.output


def test_explicit_risk_rows_are_scored_by_threshold(tmp_path):
    path = tmp_path / "rows.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for k in range(40):
            for t in (0.0, 0.5, 0.9):
                correct, abstained = k % 4 > 0, (k % 10) / 10 < t
                row = {"problem": k, "confidence": None, "correct": correct and not abstained}
                file.write(json.dumps({**row, "risk_threshold": t, "abstained": abstained}) + "\n")
    result = run(path, "--figures", tmp_path / "figures")
    assert result.exit_code == 0, result.output
    assert "One run for each risk threshold" in result.output
    wire = json.loads(run(path, "--json").output)
    assert [line["risk_threshold"] for line in wire["thresholds"]] == [0.0, 0.5, 0.9]
    assert wire["thresholds"][0]["accuracy"] == 0.75
    assert wire["snr_gain"]["value"] is not None
