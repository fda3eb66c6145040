"""What a newcomer finds: examples that show what they say, a slider in words, and how far the number can be trusted."""

import asyncio
import threading
from typing import Any

import pytest

from demur.engine.scripted import Gate, Script
from page_model import KNOWN, MODEL, SHIPPED

pytestmark = pytest.mark.browser

SURE = "Seven and five.\nAnswer: 12\nConfidence: 0.96"
STEPS = """Solution:
<Confidence value=0.95 text="small">6 * 4 = 24</Confidence>
<Confidence value=0.3 text="not checked">24 + 19 = 41</Confidence>
Answer:41"""
SOURCE = {"7 + 5": SURE, "moons": "Many.\nAnswer: 82\nConfidence: 0.07", "boxes": STEPS}


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
    assert shown == [("Answer", 0), ("No answer", 0), ("Doubtful answer", 1)]
    sent = [request.post_data_json for request in page.asked()]
    assert [body["risk_threshold"] for body in sent] == [0.9, 0.8, 0.7]
    assert page.find("label[for=threshold]").inner_text() == "Mark steps that are less than 70% sure"


def test_the_other_examples_stay_in_view_until_something_else_is_asked(visit) -> None:
    page = visit(SOURCE, manifest=MODEL)
    examples = page.find("#examples button")
    for nth in range(3):
        examples.nth(nth).click()
        page.find('.verdict:is([data-kind="answer"], [data-kind="abstain"])').locator(".cost:not(:empty)").wait_for()
        assert examples.first.is_visible()
    page.answer("How many moons?", contract="response", t=0.9)
    assert examples.first.is_hidden()


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
    page.move(0.9)
    assert said.inner_text() == "At 90% it answered 25 of 100 test questions, 97% of those rightly."
    page.move(0.91)
    near = "Measured nearby: at 90% it answered 25 of 100 test questions, 97% of those rightly."
    assert said.inner_text() == near
    for t in (0.95, 0.97, 1):
        page.move(t)
        assert said.inner_text() == f"At {100 * t:.0f}% nothing is answered: it was not that sure of any test question."
    page.move(0.7)
    assert said.inner_text() == "", "nothing was measured near 70%"
    page.move(0.5)
    page.find("input[value=claims]").check()
    assert said.inner_text() == "", "of whole answers alone"


def test_an_answer_says_where_nothing_was_checked(visit) -> None:
    """The figures of whole, single answers speak of no steps and of no vote."""
    page = visit(SOURCE, manifest=KNOWN)
    note = page.find(".calibration")
    page.answer("What is 7 + 5?", contract="response", t=0.5)
    assert note.is_hidden()
    page.answer("How many in the boxes?", contract="claims", t=0.5)
    assert note.inner_text() == "No figures here say how true its confidence is when it answers “Step by step”."
    page.find("#options summary").click()
    page.find("input[name=samples]").fill("3")
    page.find("#options summary").click()
    assert page.find("#options summary").inner_text() == "More options: asks 3 times"
    page.answer("What is 7 + 5 + 0?", contract="response", t=0.5)
    assert "winner of a vote" in note.inner_text()
    assert page.find("#consequence").inner_text() == "", "measured of single answers"


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


WATCH = """() => {
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
}"""
SETTLED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
MODEL_HERE = "input[name=contract] >> nth=0"


class ModelComesLate:
    """A proxy that keeps back what the model is until the page stands."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.seen = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope.get("path") == "/v1/models":
            await asyncio.to_thread(self.seen.wait, 30)
        await self._app(scope, receive, send)


@pytest.mark.parametrize("size", [(1280, 900), (390, 844), (320, 640)], ids=["desktop", "phone", "narrow"])
def test_nothing_moves_while_the_page_gets_ready(visit, size) -> None:
    """What comes with the model takes the room that was kept for it: layout shift below 0.05."""
    fronts: list[ModelComesLate] = []
    viewport = {"width": size[0], "height": size[1]}
    page = visit(
        SOURCE,
        manifest=SHIPPED,
        front=lambda app: fronts.append(ModelComesLate(app)) or fronts[0],
        context={"viewport": viewport},
        wait=False,
    )
    page.find(".verdict .covered, .verdict .answer").first.wait_for(state="attached")
    page.page.evaluate(WATCH)
    page.page.evaluate(SETTLED)
    fronts[0].seen.set()
    page.find(MODEL_HERE).wait_for()
    page.page.evaluate(SETTLED)
    assert page.page.evaluate("shift") < 0.05
    page.find("#ask").evaluate("(form) => (form.style.paddingTop = '30vh')")
    page.page.evaluate(SETTLED)
    assert page.page.evaluate("shift") > 0.05, "what moves is seen"


def test_nothing_moves_when_the_decision_comes(visit) -> None:
    gate = Gate()
    page = visit({"boxes": Script([STEPS], gates={len(STEPS.split()) - 1: gate})}, manifest=KNOWN)
    page.ask("How many in the boxes?", contract="claims", t=0.5)
    page.find(".step:not(.writing)").nth(1).wait_for()
    page.page.evaluate(WATCH)
    page.page.evaluate(SETTLED)
    before = page.page.evaluate("shift")
    gate.open()
    page.wait_for("answer")
    page.page.evaluate(SETTLED)
    assert page.page.evaluate("shift") - before < 0.05
