"""The report and the comparison: nothing fetched, everything escaped, what matters first."""

import json
import re

import pytest

from demur.evaluation.report.page import LONGEST_SHOWN, cut, telling
from demur.evaluation.report.paper import AIME_COLUMNS, COLUMNS, PAPER

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


@pytest.fixture
def run(demur, host, sums, tmp_path):
    """Evaluate into a folder; gives the folder."""

    def make(name, *options, n=12):
        where = ("--api", "chat", "--model", "m", "--base-url", host.url, "--out", tmp_path / name)
        result = demur("evaluate", sums(n), "--grader", "maths", *where, *options)
        assert result.exit_code == 0, result.output
        return tmp_path / name

    return make


def page_of(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def test_the_page_fetches_nothing_and_escapes_everything(run, host):
    host.answer = lambda k, body: f"{HOSTILE}\nAnswer: {HOSTILE}\nConfidence: 0.{k % 10}"
    page = page_of(run("run"))
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "default-src 'none'" in page
    sources = re.findall(r'(?:src|href|action)\s*=\s*"([^"]*)"', page)
    assert len(sources) == 3
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert not re.findall(r"url\(|@import|https?://", re.sub(r'"data:[^"]*"', "", page).replace(host.url, ""))


def test_the_page_holds_every_part(run):
    page = page_of(run("run", "--beside", "beyondaime"))
    for words in ("confidence AUC", "adaptive risk", "Run card", "Responses", "Qwen3-4B-Instruct-ppo-value (paper)"):
        assert words in page, words
    assert "(measured here)" in page
    assert "These rows are the paper&#39;s" in page or "These rows are the paper's" in page
    assert page.count("<details") == 12


def test_wrong_but_confident_answers_come_first(run, tmp_path):
    page = page_of(run("run", n=40))
    order = re.findall(r'data-verdict="(\w+)">\s*<summary>.*?class="confidence">([\d.]+)', page, re.DOTALL)
    wrong = [float(confidence) for verdict, confidence in order if verdict == "wrong"]
    assert [verdict for verdict, _ in order] == ["wrong"] * 14 + ["right"] * 26
    assert wrong == sorted(wrong, reverse=True)


def test_long_outputs_are_cut_in_the_page_only():
    assert cut("x" * LONGEST_SHOWN) == "x" * LONGEST_SHOWN
    assert cut("x" * (LONGEST_SHOWN + 1234)).endswith("x\n[1,234 more characters]")
    assert cut(None) == ""
    assert telling([]) == []


def test_reports_are_written_again_alone_and_together(run, demur, tmp_path):
    first, second = run("first"), run("second")
    (first / "report.html").unlink()
    result = demur("report", first, second, "--out", tmp_path / "both.html", "--baseline", first)
    assert result.exit_code == 0, result.output
    assert "Run card" in page_of(first)
    both = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert "Side by side" in both
    assert "Comparison of 2 runs" in both
    assert both.count("Run card") == 2


def test_a_folder_that_is_no_run_is_one_line(demur, tmp_path):
    result = demur("report", tmp_path)
    assert result.exit_code == 1
    assert result.output == f"error: {tmp_path} holds no run.json: is it the folder of a run?\n"


def test_runs_are_compared_in_pairs(run, demur, host):
    first = run("first", n=30)
    host.answer = lambda k, body: f"Answer: {2 * k}\nConfidence: 0.9"
    second = run("second", n=24)
    result = demur("compare", first, second)
    assert result.exit_code == 0, result.output
    assert "24 shared problems; 6 that only one run has are left out." in result.output
    wire = json.loads(demur("compare", first, second, "--json").output)
    gap = wire["figures"]["accuracy"]["difference"]
    assert gap["value"] == pytest.approx(8 / 24)
    assert gap["low"] > 0
    assert wire["figures"]["auc"]["difference"]["reason"] == "no wrong rows"
    same = json.loads(demur("compare", first, first / "rows.jsonl", "--json").output)
    assert same["figures"]["brier"]["difference"]["value"] == 0


def test_runs_that_cannot_be_compared_are_refused(demur, tmp_path):
    rows = {"a": [{"problem": "x"}], "b": [{"problem": "y"}], "t": [{"problem": "x", "risk_threshold": 0.5}]}
    for name, records in rows.items():
        lines = [json.dumps({"confidence": 0.5, "correct": True, **record}) for record in records]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    result = demur("compare", tmp_path / "a", tmp_path / "b")
    assert (result.exit_code, "share no graded problem" in result.output) == (1, True)
    result = demur("compare", tmp_path / "a", tmp_path / "t")
    assert (result.exit_code, "explicit-risk rows state no confidence" in result.output) == (1, True)


def test_the_papers_tables_are_whole():
    assert {name: len(table.rows) for name, table in PAPER.items()} == {
        "beyondaime": 15,
        "aime2024": 5,
        "aime2025": 5,
        "simpleqa": 9,
        "claims": 7,
    }
    for table in PAPER.values():
        assert table.columns in (COLUMNS, AIME_COLUMNS)
        assert all(len(figures) == len(table.columns) for figures in table.rows.values())
    best = PAPER["beyondaime"].rows["Qwen3-4B-Instruct-ppo-value"]
    assert dict(zip(COLUMNS, best, strict=True))["smece"] == 0.061
    assert PAPER["claims"].rows["Qwen3-4B-Instruct-confidence-min"][:2] == (0.301, 0.788)
