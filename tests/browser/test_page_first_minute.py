"""What a newcomer finds: examples that show what they say, a slider in words, and how far the number can be trusted."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser

SURE = "Seven and five.\nAnswer: 12\nConfidence: 0.96"
STEPS = """Solution:
<Confidence value=0.95 text="small">6 * 4 = 24</Confidence>
<Confidence value=0.3 text="not checked">24 + 19 = 41</Confidence>
Answer:41"""
SOURCE = {"7 + 5": SURE, "moons": "Many.\nAnswer: 82\nConfidence: 0.07", "boxes": STEPS}
EXAMPLES = [
    {"question": "What is 7 + 5?", "contract": "response", "risk_threshold": 0.9, "shows": "answer"},
    {"question": "How many moons?", "contract": "response", "risk_threshold": 0.8, "shows": "abstain"},
    {
        "question": "How many in the boxes?",
        "contract": "claims",
        "granularity": "claims",
        "risk_threshold": 0.7,
        "shows": "doubt",
    },
]
MEASURED = {
    "on": "graded sums",
    "date": "2026-11-20",
    "answers": 400,
    "auc": {"value": 0.91, "low": 0.88, "high": 0.94},
    "smece": {"value": 0.03, "low": 0.01, "high": 0.05},
    "thresholds": [
        {"risk_threshold": 0.5, "answered": 0.62, "right": 0.83},
        {"risk_threshold": 0.9, "answered": 0.25, "right": 0.97},
        {"risk_threshold": 0.95, "answered": 0.0, "right": None},
    ],
    "reliability": [
        {"answers": 100, "confidence": 0.1, "right": 0.12},
        {"answers": 300, "confidence": 0.9, "right": 0.88},
    ],
}
MODEL: dict[str, Any] = {"contracts": ["response", "claims", "explicit_risk"], "examples": EXAMPLES}
KNOWN = MODEL | {"measured": {"response": MEASURED}}


def test_before_anything_is_asked_the_slider_decides(visit) -> None:
    page = visit({}, manifest=MODEL)
    assert page.find("label[for=threshold]").inner_text() == "Answer only if at least 50% sure"
    assert page.find(".verdict h2").inner_text() == "No answer"
    assert page.find(".steps").is_hidden()
    page.move(0.4)
    assert page.find(".verdict .answer").inner_text() == "It is a Wednesday."
    assert page.find(".step").count() == 3
    assert page.asked() == []


def test_each_example_of_the_model_shows_what_it_says(visit) -> None:
    page = visit(SOURCE, manifest=MODEL)
    shown = []
    for nth in range(3):
        page.page.goto(page.url)
        page.find("#examples button").nth(nth).click()
        page.find('.verdict:is([data-kind="answer"], [data-kind="abstain"])').locator(".cost").wait_for()
        shown.append((page.find(".verdict h2").inner_text(), page.find(".step.doubted").count()))
    assert shown == [("Answer", 0), ("No answer", 0), ("Answer", 1)]
    sent = [request.post_data_json for request in page.asked()]
    assert [body["risk_threshold"] for body in sent] == [0.9, 0.8, 0.7]
    assert page.find("label[for=threshold]").inner_text() == "Mark steps that are less than 70% sure"


def test_a_model_without_examples_gets_general_ones(visit) -> None:
    page = visit({})
    assert page.find("#examples button").count() == 3


def test_the_slider_is_worded_by_what_it_does(visit) -> None:
    page = visit(SOURCE, manifest=MODEL)
    words = page.find("label[for=threshold]")
    page.find("input[value=claims]").check()
    assert words.inner_text().startswith("Mark steps")
    page.find("#options summary").click()
    page.find("[name=granularity]").select_option("response")
    assert words.inner_text().startswith("Answer only if")
    page.find("input[value=explicit_risk]").check()
    assert words.inner_text().startswith("Tell it to answer only if")


def test_the_consequence_stands_at_the_slider(visit) -> None:
    page = visit(SOURCE, manifest=KNOWN)
    said = page.find("#consequence")
    assert said.inner_text() == "At 50% it answered 62 of 100 test questions, 83% of those rightly."
    page.move(0.91)
    assert said.inner_text() == "At 90% it answered 25 of 100 test questions, 97% of those rightly."
    page.move(0.97)
    assert said.inner_text() == "At 95% it answered 0 of 100 test questions."
    page.move(0.7)
    assert said.inner_text() == "", "nothing was measured near 70%"
    page.move(0.5)
    page.find("input[value=claims]").check()
    assert said.inner_text() == "", "of whole answers alone"


def test_behind_the_badge_is_what_was_measured(visit) -> None:
    page = visit(SOURCE, manifest=KNOWN)
    badge, card = page.find(".badge"), page.find("#trust")
    assert card.is_hidden()
    badge.click()
    assert badge.get_attribute("aria-expanded") == "true"
    said = card.inner_text()
    for fact in (
        "400 answers to graded sums",
        "2026-11-20",
        "91 times in 100 [88 to 94]",
        "off by 3%",
        "questions like those",
    ):
        assert fact in said
    assert card.locator("svg circle").count() == 2
    assert "of 300 answers it called 90% sure, 88% were right" in (
        card.locator("svg").get_attribute("aria-label") or ""
    )
    badge.click()
    assert card.is_hidden()


def test_a_model_that_nobody_checked_says_how_to(visit) -> None:
    page = visit(SOURCE, manifest={"calibrated": False})
    page.find(".badge").click()
    assert "only a claim" in page.find("#trust h2").inner_text()
    assert "demur calibrate" in page.find("#trust").inner_text()


def test_nothing_moves_while_the_page_gets_ready(visit) -> None:
    """What comes with the model takes the room that was kept for it: layout shift below 0.05."""
    page = visit(SOURCE, manifest=KNOWN, wait=False)
    page.find("input[name=contract]").first.wait_for()
    shift = """() => new Promise((done) => new PerformanceObserver((list) => {
      done(list.getEntries().reduce((sum, entry) => sum + (entry.hadRecentInput ? 0 : entry.value), 0));
    }).observe({ type: 'layout-shift', buffered: true })).catch(() => 0)"""
    found = page.page.evaluate(
        f"() => Promise.race([({shift})(), new Promise((done) => setTimeout(() => done(0), 500))])"
    )
    assert found < 0.05
