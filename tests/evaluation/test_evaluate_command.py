"""`demur evaluate` against a real HTTP host, one that answers and one that misbehaves."""

import gzip
import json
from collections import deque

import pytest

from demur.evaluation.grades_file import read_graded
from demur.evaluation.row_files import read_rows
from demur.prompts import prompt_hash


@pytest.fixture
def evaluate(demur, host, sums, tmp_path):
    def run(*options, n=12, out=tmp_path / "run"):
        return demur("evaluate", sums(n), "--base-url", host.url, "--out", out, "--grader", "maths", *options)

    return run


CHAT = ("--api", "chat", "--model", "m")


def test_a_chat_host_is_asked_graded_and_reported(evaluate, host, tmp_path):
    result = evaluate(*CHAT, "--temperature", "1.0", "--top-p", "0.7", "--seed", "5")
    assert result.exit_code == 0, result.output
    rows = read_rows(tmp_path / "run" / "rows.jsonl").rows
    assert [row.correct for row in rows] == [k % 3 > 0 for k in range(12)]
    assert [row.confidence for row in rows] == [(k % 10) / 10 for k in range(12)]
    body = host.bodies[0]
    assert (body["model"], body["temperature"], body["top_p"], body["seed"]) == ("m", 1.0, 0.7, 5)
    assert "confidence AUC" in result.output
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "failures.jsonl",
        "graded.jsonl.gz",
        "metrics.json",
        "report.html",
        "responses.jsonl.gz",
        "rows.jsonl",
        "run.json",
    ]
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["response"]["accuracy"]["value"] == pytest.approx(8 / 12)


def test_a_demur_server_is_asked_at_threshold_zero(evaluate, host, tmp_path):
    result = evaluate("--max-tokens", "64")
    assert result.exit_code == 0, result.output
    body = host.bodies[0]
    assert body == {
        "question": "What is 0 plus 0?",
        "risk_threshold": 0.0,
        "include_raw": True,
        "include_withheld": True,
        "include_conditions": True,
        "contract": "response",
        "max_tokens": 64,
    }
    assert [row.correct for row in read_rows(tmp_path / "run" / "rows.jsonl").rows] == [k % 3 > 0 for k in range(12)]


def test_the_run_manifest_says_how_it_was_made_and_keeps_the_key_out(evaluate, tmp_path, host):
    result = evaluate(*CHAT, "--api-key", "sk-very-secret", "--extra-body", '{"top_k": -1}')
    assert result.exit_code == 0, result.output
    assert host.headers[0]["authorization"] == "Bearer sk-very-secret"
    text = (tmp_path / "run" / "run.json").read_text(encoding="utf-8")
    manifest = json.loads(text)
    assert manifest["plan"]["model"] == "m"
    assert manifest["plan"]["extra"] == {"top_k": -1}
    assert len(manifest["plan"]["prompt"]) == 12
    assert manifest["versions"]["demur"]
    assert manifest["responses"] == 12
    assert manifest["completion_tokens"] > 0
    for path in (tmp_path / "run").iterdir():
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert b"very-secret" not in content, path.name


def test_the_run_manifest_counts_replies_whose_last_lines_were_forced(evaluate, host, tmp_path):
    plain = host.plain
    host.answer = lambda k, body: plain(k, body).replace("\nAnswer", "\n\nAnswer") if k < 5 else plain(k, body)
    assert evaluate().exit_code == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["settled"] == {"continued": 5}


def test_a_chat_host_may_be_asked_in_the_wording_for_untrained_models(evaluate, host, tmp_path):
    assert evaluate(*CHAT, "--prompt-wording", "untrained").exit_code == 0
    assert "Reason step by step first" in host.bodies[0]["messages"][-1]["content"]
    plan = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["plan"]
    assert plan["prompt"] == prompt_hash("response", trained=False)
    refused = evaluate("--prompt-wording", "untrained")
    assert refused.exit_code != 0
    assert "--prompt-wording needs --api chat" in refused.output


def test_every_raw_response_is_kept(evaluate, tmp_path):
    evaluate(*CHAT)
    with gzip.open(tmp_path / "run" / "responses.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    assert len(records) == 12
    first = next(record for record in records if record["problem"] == "sum-1")
    assert first["body"]["choices"][0]["message"]["content"].endswith("Answer: 2\nConfidence: 0.1")
    assert first["body"]["usage"]["prompt_tokens"] == 7


def test_passing_troubles_are_tried_again(evaluate, host):
    troubles = "429", "500", "503", "garbage", "empty", "half", "hang"
    host.troubles = {str(k): deque([trouble]) for k, trouble in enumerate(troubles)}
    result = evaluate(*CHAT, "--timeout", "2")
    assert result.exit_code == 0, result.output
    assert host.asked == {str(k): 2 if k < len(troubles) else 1 for k in range(12)}


def test_a_question_that_gets_no_answer_is_reported_and_asked_again_next_time(evaluate, host, tmp_path):
    host.troubles = {"4": deque(["400"])}
    result = evaluate(*CHAT)
    assert result.exit_code == 1
    assert "1 questions got no answer, the first of them 'sum-4': status 400: trouble 400" in result.output
    failure = json.loads((tmp_path / "run" / "failures.jsonl").read_text(encoding="utf-8"))
    assert failure["problem"] == "sum-4"
    assert len(read_rows(tmp_path / "run" / "rows.jsonl").rows) == 11
    again = evaluate(*CHAT)
    assert again.exit_code == 0, again.output
    assert host.asked["4"] == 2
    assert sum(host.asked.values()) == 13
    assert len(read_rows(tmp_path / "run" / "rows.jsonl").rows) == 12


def test_retries_end(evaluate, host):
    host.troubles = {"4": deque(["500"] * 5)}
    result = evaluate(*CHAT, "--retries", "1")
    assert result.exit_code == 1
    assert "status 500: trouble 500 (after 2 tries)" in result.output
    assert host.asked["4"] == 2


@pytest.mark.parametrize("status", ["401", "404"])
def test_a_host_that_refuses_everyone_ends_the_run_at_once(evaluate, host, status):
    host.always = status
    result = evaluate(*CHAT, "--concurrency", "1")
    assert result.exit_code == 1
    assert f"answers {status}: trouble {status}" in result.output
    assert sum(host.asked.values()) == 1


def test_a_host_that_is_down_ends_the_run_and_keeps_what_there_is(evaluate, host):
    host.always = "500"
    result = evaluate(*CHAT, "--retries", "0", "--concurrency", "2")
    assert result.exit_code == 1
    assert "8 questions in a row got no answer, the last: status 500: trouble 500" in result.output
    assert sum(host.asked.values()) <= 9
    host.always = None
    assert evaluate(*CHAT).exit_code == 0


def test_questions_that_are_refused_do_not_make_the_host_down(evaluate, host, tmp_path):
    host.troubles = {str(k): deque(["400"] * 2) for k in range(1, 11)}
    for _ in range(2):
        result = evaluate(*CHAT, "--concurrency", "1")
        assert result.exit_code == 1
        assert "10 questions got no answer, the first of them 'sum-1': status 400" in result.output
        assert "in a row" not in result.output
    assert len(read_rows(tmp_path / "run" / "rows.jsonl").rows) == 2


def garbled(k, body):
    return {4: "I do not know.", 5: "Adding.\nAnswer: 10\nConfidence: very", 7: "Adding.\nAnswer: 14"}.get(
        k, f"Adding.\nAnswer: {2 * k}\nConfidence: 0.5"
    )


def test_a_demur_server_shows_what_cannot_be_read(evaluate, host, tmp_path):
    host.answer = garbled
    result = evaluate()
    assert result.exit_code == 0, result.output
    outputs = {one.key.problem: one.output for one in read_graded(tmp_path / "run")}
    assert (outputs["sum-4"].answer, outputs["sum-4"].raw) == (None, "I do not know.")
    assert [outputs[f"sum-{k}"].state for k in (4, 5, 6, 7)] == ["missing", "invalid", "value", "missing"]
    assert "I do not know." in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_a_server_that_shows_no_withheld_text_is_asked_without(evaluate, host, tmp_path):
    host.answer, host.shows_withheld = garbled, False
    result = evaluate()
    assert result.exit_code == 0, result.output
    assert result.output.count("asking on without include_withheld") == 1
    assert len(host.bodies) == 12
    assert not any("include_withheld" in body for body in host.bodies)
    outputs = {one.key.problem: one.output for one in read_graded(tmp_path / "run")}
    assert outputs["sum-4"].raw is None
    assert outputs["sum-5"].state == "invalid"


def test_a_run_is_not_gone_on_with_another_model(evaluate, host, tmp_path):
    host.troubles = {"4": deque(["400"])}
    assert evaluate().exit_code == 1
    manifest = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert manifest["served"] == {
        "name": "demur-test",
        "recipe": "r1",
        "base": None,
        "fingerprint": "f1",
        "prompt": "p1",
    }
    host.served = {**host.served, "fingerprint": "f2"}
    refused = evaluate()
    assert refused.exit_code == 1
    assert "holds answers of another model: its fingerprint was 'f1' and is 'f2' now" in refused.output
    assert host.asked["4"] == 1
    host.served["fingerprint"] = "f1"
    assert evaluate().exit_code == 0
    assert host.asked["4"] == 2


def test_a_server_that_lists_no_models_is_asked_all_the_same(evaluate, host):
    host.served = None
    result = evaluate()
    assert result.exit_code == 0, result.output
    assert "does not say which model is served" in result.output


@pytest.mark.parametrize("address", ["http://[::1", "http://host:port", "localhost:8000", "http://"])
@pytest.mark.parametrize("option", ["--base-url", "--judge-base-url"])
def test_what_is_no_address_is_one_line(demur, host, sums, tmp_path, option, address):
    where = {"--base-url": host.url} | {option: address}
    options = [part for pair in where.items() for part in pair]
    result = demur("evaluate", sums(3), *options, "--out", tmp_path / "run")
    assert result.exit_code == 1
    assert result.output.startswith(f"error: {address} is no address")
    assert len(result.output.splitlines()) == 1
    assert not host.asked


def test_nobody_listening_is_one_line(demur, sums, tmp_path):
    result = demur("evaluate", sums(9), "--base-url", "http://127.0.0.1:9", "--retries", "0", "--out", tmp_path / "run")
    assert result.exit_code == 1
    assert "the connection failed" in result.output
    assert "Traceback" not in result.output


def test_a_finished_run_asks_nothing_and_grows(evaluate, host):
    evaluate(*CHAT)
    assert evaluate(*CHAT).exit_code == 0
    assert sum(host.asked.values()) == 12
    grown = evaluate(*CHAT, "--samples", "3", "--seed", "1")
    assert grown.exit_code == 1
    assert "seed was None and is 1; give another --out" in grown.output
    assert evaluate(*CHAT, "--samples", "3").exit_code == 0
    assert sum(host.asked.values()) == 36


def test_samples_of_a_question_get_their_own_seeds(evaluate, host, tmp_path):
    result = evaluate(*CHAT, "--samples", "3", "--seed", "10", n=2)
    assert result.exit_code == 0, result.output
    assert sorted(body["seed"] for body in host.bodies) == [10, 10, 11, 11, 12, 12]
    rows = read_rows(tmp_path / "run" / "rows.jsonl").rows
    assert [(row.problem, row.sample) for row in rows] == [(f"sum-{k}", s) for s in range(3) for k in range(2)]


def test_explicit_risk_runs_the_grid(evaluate, host, tmp_path):
    def answer(k, body):
        percent = float(body["messages"][-1]["content"].split(" percent")[0].rsplit(" ", 1)[1])
        return f"Answer: {2 * k}" if (k % 10) * 10 >= percent else "Answer: <IDK>"

    host.answer = answer
    result = evaluate(*CHAT, "--contract", "explicit_risk", "--risk-thresholds", "0,0.5,0.95")
    assert result.exit_code == 0, result.output
    assert "One run for each risk threshold" in result.output
    rows = read_rows(tmp_path / "run" / "rows.jsonl")
    assert len(rows.rows) == 36
    share = {t: sum(row.abstained for row in rows.rows if row.risk_threshold == t) for t in (0, 0.5, 0.95)}
    assert share == {0: 0, 0.5: 7, 0.95: 12}


def test_explicit_risk_tells_declined_from_unreadable(evaluate, host, tmp_path):
    def answer(k, body):
        return f"Answer: {2 * k}" if k < 6 else "Answer: <IDK>" if k < 8 else "%$#"

    host.answer = answer
    result = evaluate(*CHAT, "--contract", "explicit_risk", "--risk-thresholds", "0,0.5")
    assert result.exit_code == 0, result.output
    assert "8 outputs neither answered nor declined: they are unreadable" in result.output
    rows = read_rows(tmp_path / "run" / "rows.jsonl").rows
    assert [(row.abstained, row.state) for row in rows if row.risk_threshold == 0.5] == [
        *[(False, "missing")] * 6,
        *[(True, "missing")] * 2,
        *[(True, "invalid")] * 4,
    ]
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))["response"]
    assert metrics["unreadable"] == 8
    assert [(t["abstention"], t["unreadable"]) for t in metrics["thresholds"]] == [(0.5, pytest.approx(1 / 3))] * 2
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert page.count('data-verdict="unreadable"') == 8
    assert page.count('data-verdict="abstained"') == 4


def test_several_checkpoints_get_a_report_together(evaluate, host, tmp_path):
    options = ("--contract", "explicit_risk", "--risk-thresholds", "0,0.9", "--model", "a", "--model", "b")
    result = evaluate("--api", "chat", *options, n=4)
    assert result.exit_code == 0, result.output
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "a on sums.jsonl" in page
    assert "b on sums.jsonl" in page
    assert (tmp_path / "run" / "a" / "rows.jsonl").exists()
    assert {body["model"] for body in host.bodies} == {"a", "b"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--api", "chat"), "--model is needed with --api chat"),
        ((*CHAT, "--confidence-source", "critic"), "a bare chat host has no critic"),
        (
            ("--contract", "claims", "--granularity", "claims", "--confidence-source", "critic"),
            "leave out --granularity",
        ),
        (("--contract", "claims", "--aggregation", "min", "--confidence-source", "critic"), "leave out --aggregation"),
        (("--contract", "explicit_risk", "--confidence-source", "critic"), "does not fit --contract explicit_risk"),
        (("--granularity", "claims"), "--granularity claims needs --contract claims"),
        (("--contract", "claims", "--granularity", "claims"), "needs --judge-model"),
        (("--aggregation", "product"), "--aggregation needs --contract claims"),
        (("--selection", "maxconf"), "--selection needs --samples above 1"),
        (("--grader", "simpleqa"), "the simpleqa grader needs --judge-model"),
        (("--extra-body", "{"), "--extra-body: not JSON"),
        (("--extra-body", "3"), "--extra-body: must be a JSON object"),
        (("--contract", "explicit_risk", "--risk-thresholds", "0,2"), "each must be in"),
        (("--contract", "explicit_risk", "--risk-thresholds", "a"), "write numbers with commas"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_asked(evaluate, host, options, message):
    result = evaluate(*options)
    assert result.exit_code == 1
    assert message in result.output
    assert not host.asked
