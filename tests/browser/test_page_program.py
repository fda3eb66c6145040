"""What the page hands to programs works as it is handed over."""

import json
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.browser

STEPS = """Solution:
<Confidence value=0.97 text="a small product">2 * 20 = 40</Confidence>
<Confidence value=0.41 text="the sum was not checked">40 + 30 = 70</Confidence>
Answer:70"""
WHOLE = "Two rows of 20 are 40.\nAnswer: 70\nConfidence: 0.62"
CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}
QUESTION = "It's \"eggs\" \\ 🥚 $HOME `id` \u202e %s?\n'; echo owned"


def copied(page, form: str) -> str:
    if not page.find(".program").evaluate("(one) => one.open"):
        page.find(".program summary").click()
    page.find(f".program input[value={form}]").check()
    page.find(".program button:text-is('Copy')").click()
    page.find(".copied:text-is('Copied')").wait_for()
    return page.page.evaluate("navigator.clipboard.readText()")


def test_json_is_the_reply_at_the_sliders_threshold(visit) -> None:
    page = visit({"eggs": STEPS}, context=CLIPBOARD)
    page.answer("How many eggs?", t=0.5)
    page.move(0.2)
    reply = json.loads(copied(page, "json"))
    assert reply["risk_threshold"] == 0.2
    assert [claim["decision"] for claim in reply["claims"]] == ["assert", "assert"]
    assert reply["raw"] is None


def test_json_of_an_abstention_holds_nothing_that_was_withheld(visit) -> None:
    page = visit({"eggs": WHOLE}, context=CLIPBOARD)
    page.answer("How many eggs?", contract="response", t=0.9)
    reply = json.loads(copied(page, "json"))
    assert (reply["decision"], reply["answer"], reply["withheld"], reply["raw"]) == ("abstain", None, None, None)


def test_python_runs_and_asks_the_same(visit) -> None:
    page = visit({"eggs": STEPS}, context=CLIPBOARD)
    page.answer(QUESTION, t=0.5)
    done = subprocess.run([sys.executable, "-c", copied(page, "python")], capture_output=True, text=True, check=True)
    assert "70" in done.stdout
    first, second = page.engine.drawn
    assert first.messages == second.messages
    assert QUESTION in first.messages[-1]["content"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_curl_runs_and_asks_the_same(visit) -> None:
    page = visit({"eggs": STEPS}, context=CLIPBOARD)
    page.answer(QUESTION, t=0.5)
    done = subprocess.run(["bash", "-c", copied(page, "curl")], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["answer"] == "70"
    first, second = page.engine.drawn
    assert first.messages == second.messages


def test_without_a_clipboard_the_text_is_selected(visit) -> None:
    page = visit({"eggs": STEPS})
    page.answer("How many eggs?", t=0.5)
    page.page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.find(".program summary").click()
    page.find(".program button:text-is('Copy')").click()
    page.find(".copied:has-text('Selected')").wait_for()
    assert json.loads(page.page.evaluate("getSelection().toString()"))["answer"] == "70"
