"""`demur metrics` as a person runs it."""

import gzip
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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_table_as_people_have_it(tmp_path, encoding, packed):
    draw = random.Random(1)
    lines = [f"{draw.random():.2f};{draw.choice(['True', 'False'])};é{k}" for k in range(50)]
    data = "\n".join(["prob;label;note", *lines]).encode(encoding)
    path = tmp_path / "rows"
    path.write_bytes(gzip.compress(data) if packed else data)
    result = run(path)
    assert result.exit_code == 0, result.output
    assert "50 rows about 50 problems." in result.output
    assert "No row names a problem: each is a problem of its own." in result.output
    notes = json.loads(run(path, "--json").output)["notes"]
    assert notes[0].startswith('Read "prob" as confidence, "label" as correct;')


def test_equal_confidences_gain_nothing_and_lose_nothing(tmp_path):
    for p in ("0.1", "0.3", "0.7"):
        path = tmp_path / "rows.csv"
        path.write_text("confidence,correct\n" + f"{p},1\n{p},0\n{p},1\n" * 7, encoding="utf-8")
        output = run(path).output
        assert "-0.000" not in output
        assert next(line for line in output.splitlines() if "SNR-gain" in line).split()[2] == "0.000"


@pytest.mark.parametrize("text", ["", "[]", "confidence,correct\n"])
def test_no_rows_is_an_error(text):
    result = run("-", stdin=text)
    assert (result.exit_code, result.output) == (1, "error: - holds no rows\n")


def test_no_rows_of_the_chosen_level_is_an_error(rows):
    result = run(rows, "--level", "claims")
    assert result.exit_code == 1
    assert "holds no rows for --level claims" in result.output


def test_percent_needs_the_option(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("confidence,correct\n1,0\n90,1\n20,0\n", encoding="utf-8")
    refused = run(path)
    assert refused.exit_code == 1
    assert "rows.csv line 3: \"confidence\" is '90'" in refused.output
    assert "--scale percent" in refused.output
    wire = json.loads(run(path, "--scale", "percent", "--json").output)
    assert wire["mean_confidence"]["value"] == pytest.approx(0.37)


def test_columns_are_named(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text("a\tb\tc\n0.9\tyes\tx\n0.8\tno\tx\n", encoding="utf-8")
    result = run(path, "--confidence", "a", "--correct", "b", "--problem", "c", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["accuracy"]["value"] == 0.5


def test_a_signal_is_scored_in_place_of_the_confidence(tmp_path):
    path = tmp_path / "rows.jsonl"
    signals = [(0.9, 0.2, True), (0.8, None, True), (0.7, 0.1, False), (0.6, 0.8, False)]
    rows = [
        {"problem": i, "confidence": stated, "signals": {"verbalized": stated, "p_true": p}, "correct": correct}
        for i, (stated, p, correct) in enumerate(signals)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def auc(*options):
        return json.loads(run(path, "--json", *options).stdout)["auc"]["value"]

    assert (auc(), auc("--confidence", "signals.verbalized"), auc("--confidence", "signals.p_true")) == (1.0, 1.0, 0.5)
    wrong = run(path, "--confidence", "signals.oracle")
    assert wrong.exit_code == 1
    assert 'no column "signals.oracle"' in wrong.output


def test_what_stands_in_a_file_cannot_drive_the_terminal(tmp_path):
    path = tmp_path / "rows[1].jsonl"
    path.write_text('{"[/x] \\u001b[31m guess": "[/red]", "correct": true}\n', encoding="utf-8")
    read = run(path, "--confidence", "[/x] \x1b[31m guess")
    assert read.exit_code == 0, read.output
    assert "'[/red]'" in read.output
    refused = run(path)
    assert refused.exit_code == 1
    assert "\x1b" not in read.output + refused.output


JUNK = [
    "\x00\x01",
    "{",
    "[",
    '{"a":',
    "a,b\n1\n",
    "a,a\n1,2\n",
    "0.5,1\n0.2,0\n",
    '"x',
    "[1, 2]",
    "[[1]]",
    "null",
    "7",
    "x",
]


@pytest.mark.parametrize("text", JUNK)
@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.json", "rows.parquet", "rows.csv.gz", "rows"])
def test_what_holds_no_rows_is_one_line(tmp_path, text, name):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    result = run(path)
    assert result.exit_code == 1
    assert result.output.startswith("error: ")
    assert len(result.output.splitlines()) == 1
