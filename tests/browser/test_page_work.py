"""Working with the page: what was asked is kept, linked, copied, followed up, stopped, and asked by the file."""

import json
from urllib.parse import urlsplit

import pytest

from demur.engine.scripted import Gate, Script

pytestmark = pytest.mark.browser

WHOLE = "Two rows of 9 are 18.\nAnswer: 18\nConfidence: 0.66"
HENS = "A guess.\nAnswer: 5\nConfidence: 0.2"
SOURCE = {"rows": WHOLE, "hens": HENS}
CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}


def test_the_answer_keeps_its_question(visit) -> None:
    page = visit(SOURCE)
    page.answer("How many rows <b>?", contract="response", t=0.5)
    page.find("#question").fill("Something else")
    assert page.find(".asked-question").inner_text() == "How many rows <b>?"


def test_back_and_reload_bring_answers_again_without_asking(visit) -> None:
    page = visit(SOURCE)
    page.answer("How many rows?", contract="response", t=0.5)
    page.answer("How many hens?", contract="response", t=0.6)
    page.page.go_back()
    page.find(".answer:text-is('18')").wait_for()
    assert page.find("#question").input_value() == "How many rows?"
    page.page.go_forward()
    page.wait_for("abstain")
    page.page.reload()
    page.wait_for("abstain")
    assert page.find(".asked-question").inner_text() == "How many hens?"
    assert len(page.asked()) == 2


def test_a_link_holds_the_question_and_settings_and_asks_nothing(visit, browse) -> None:
    page = visit(SOURCE)
    page.find("#options summary").click()
    page.find("[name=seed]").fill("7")
    page.answer("How many rows?", contract="response", t=0.6)
    link = page.page.url
    assert "18" not in urlsplit(link).fragment
    other = browse(page.url)
    other.page.goto(link)
    other.page.reload()
    other.find("#question:not(:placeholder-shown)").wait_for()
    assert other.find("input[value=response]").is_checked()
    assert other.find("[name=seed]").input_value() == "7"
    assert other.find("#threshold-value").inner_text() == "60%"
    assert other.asked() == []


@pytest.mark.parametrize(
    ("fragment", "request_"),
    [
        ("#question=a&risk_threshold=0.5", {"question": "a", "risk_threshold": 0.5}),
        ("#question=a&risk_threshold=x&samples=Infinity", {"question": "a"}),
        ("#question=a&key=secret&include_withheld=true&__proto__=x", {"question": "a"}),
        ("#risk_threshold=0.5", None),
        ("#%E0%A4%A", None),
    ],
)
def test_a_hostile_link_sets_nothing_but_settings(still, fragment, request_) -> None:
    found = still.evaluate("async (link) => (await import('/js/permalink.js')).readLink(link)", fragment)
    assert found == request_


def test_history_is_kept_can_be_saved_and_switched_off(visit) -> None:
    page = visit(SOURCE)
    page.answer("How many rows?", contract="response", t=0.5)
    page.answer("How many hens?", contract="response", t=0.5)
    page.find("#history summary").click()
    assert page.find(".again").all_inner_texts() == ["How many hens?", "How many rows?"]
    with page.page.expect_download() as saved:
        page.find("#history button:text-is('Save as JSON')").click()
    entries = json.loads(saved.value.path().read_text())
    assert [(entry["decision"], entry["answer"]) for entry in entries] == [("abstain", None), ("answer", "18")]
    page.find(".again").nth(1).click()
    assert page.find("#question").input_value() == "How many rows?"
    page.find("#history input[type=checkbox]").check()
    assert page.page.evaluate("localStorage.getItem('history')") == "[]"
    page.answer("How many hens?", contract="response", t=0.5)
    assert page.page.evaluate("localStorage.getItem('history')") == "[]"


def test_a_follow_up_takes_the_conversation_along(visit) -> None:
    page = visit(SOURCE)
    page.answer("How many rows?", contract="response", t=0.5)
    page.find("button:text-is('Ask a follow-up')").click()
    assert "How many rows?" in page.find("#following").inner_text()
    page.answer("And hens?", t=0.1)
    sent = page.asked()[-1].post_data_json
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "user"]
    assert sent["messages"][1]["content"] == "Two rows of 9 are 18.\n18"
    page.find("#following button").click()
    page.answer("How many rows?", t=0.1)
    assert "messages" not in page.asked()[-1].post_data_json


def test_answer_and_step_are_copied(visit) -> None:
    steps = 'Solution:\n<Confidence value=0.2 text="a guess">6 * 3 = 18</Confidence>\nAnswer:18'
    page = visit({"eggs": steps}, context=CLIPBOARD)
    page.answer("How many eggs?", contract="claims", t=0.5)
    for name, text in (("Copy answer", "18"), ("Copy step", "6 * 3 = 18")):
        page.find(f"button:text-is('{name}')").click()
        page.find("button:text-is('Copied')").first.wait_for()
        assert page.page.evaluate("navigator.clipboard.readText()") == text


def test_escape_stops_and_claims_nothing_that_was_not_shown(visit) -> None:
    gate = Gate()
    page = visit({"rows": Script([WHOLE], gates={4: gate})})
    page.ask("How many rows?", contract="response", t=0.5)
    page.wait_for("working")
    page.page.keyboard.press("Escape")
    verdict = page.wait_for("failed")
    assert verdict.locator(".because").inner_text() == "You stopped it before there was an answer."
    gate.open()


def test_an_empty_question_is_asked_for(visit) -> None:
    page = visit(SOURCE)
    page.find("#question").fill("   ")
    page.find("#send").click()
    assert page.find("#question-hint").inner_text() == "Write a question first."
    assert page.page.evaluate("document.activeElement.id") == "question"
    page.find("#question").fill("How many rows?")
    assert page.find("#question-hint").inner_text() == ""
    assert page.asked() == []


def test_print_is_the_question_and_the_answer(visit) -> None:
    page = visit(SOURCE)
    page.answer("How many rows?", contract="response", t=0.5)
    page.page.emulate_media(media="print")
    assert page.find(".answer").is_visible()
    assert page.find(".asked-question").is_visible()
    for gone in ("#ask", "#ruler", ".actions", ".program", "#batch", "footer"):
        assert page.find(gone).is_hidden(), gone


def test_tokens_and_seconds_are_told(visit) -> None:
    page = visit(SOURCE)
    page.answer("How many rows?", contract="response", t=0.5)
    tokens, seconds = page.find(".cost").inner_text().split(", ")
    assert tokens.endswith(" tokens")
    assert seconds.endswith(" s")


def test_a_file_of_questions_becomes_a_table(visit, tmp_path) -> None:
    file = tmp_path / "questions.csv"
    file.write_text('id,question\n1,"How many rows,\nin all?"\n2,How many hens?\n3,=rows()\n')
    page = visit(SOURCE)
    page.find("input[value=response]").check()
    page.find("#batch summary").click()
    page.find("#batch-file").set_input_files(file)
    page.find("#batch [role=status]:has-text('3 of 3 questions asked, 2 answered')").wait_for()
    assert page.find(".batch-table tbody td:last-child").all_inner_texts() == ["18", "no answer", "18"]
    with page.page.expect_download() as saved:
        page.find("#batch button:text-is('Save as CSV')").click()
    lines = saved.value.path().read_text().replace("\r\n", "\n").split("\n")
    assert lines[0] == "question,decision,reason,confidence,risk_threshold,answer,error"
    assert "How many hens?,abstain,below_threshold,0.2,0.5,," in lines
    assert any(line.startswith("'=rows()") for line in lines), "a spreadsheet takes it for no formula"


def test_a_file_of_questions_can_be_stopped(visit, tmp_path) -> None:
    file = tmp_path / "questions.txt"
    file.write_text("How many rows?\nHow many geese?\nHow many hens?\n")
    gate = Gate()
    page = visit(SOURCE | {"geese": Script([WHOLE], gates={2: gate})})
    page.find("#batch summary").click()
    page.find("#batch-file").set_input_files(file)
    page.find("#batch [role=status]:has-text('1 of 3')").wait_for()
    page.find("#batch button:text-is('Stop')").click()
    page.find("#batch [role=status]:has-text('2 of 3')").wait_for()
    page.find("#batch-file:enabled").wait_for()
    assert len(page.asked()) == 2
    gate.open()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "\n \n", "no question"),
        ("a.csv", "id,text\n1,x\n", "names no column"),
        ("a.jsonl", '{"question": 3}\n', "Line 1"),
        ("a.jsonl", "{\n", "Line 1"),
        ("a.txt", "x\n" * 1001, "1001 questions"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(still, name, text, message) -> None:
    run = """async ([name, text]) => {
      try { (await import('/js/questions.js')).questionsIn(name, text); return ''; } catch (error) { return error.message; }
    }"""
    assert message in still.evaluate(run, [name, text])


@pytest.mark.parametrize(
    ("name", "text", "questions"),
    [
        ("a.txt", "\ufeffone\r\ntwo\n", ["one", "two"]),
        ("a.CSV", 'n,Question\n1,"a ""b"", c"\n2,d\n', ['a "b", c', "d"]),
        ("a.jsonl", '{"question": "a\\nb"}\n\n{"question": "c", "x": 1}\n', ["a\nb", "c"]),
    ],
)
def test_questions_are_read_out_of_files(still, name, text, questions) -> None:
    run = "async ([name, text]) => (await import('/js/questions.js')).questionsIn(name, text)"
    assert still.evaluate(run, [name, text]) == questions
