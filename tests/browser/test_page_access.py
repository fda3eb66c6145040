"""For everyone: keyboard, phone, dark and light, screen readers."""

from importlib.resources import files
from typing import Any

import pytest

from demur.engine.base import EngineOverloaded
from demur.engine.scripted import Script

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}

STEPS = r"""Solution:
<Confidence value=0.97 text="a small product">2 * 20 = 40</Confidence>
<Confidence value=0.7 text="by Pythagoras, which needs a right angle">$$c = \sqrt{a^2 + b^2}$$</Confidence>
<Confidence value=0.01 text="the sum was not checked">40 + 30 = 70</Confidence>
Answer:\frac{60}{13}"""
WIDE = f'Solution:\n<Confidence value=0.3 text="{"w" * 300}">$${"+".join("x" * 60)}$$ {"m" * 400}</Confidence>\nAnswer:{"9" * 200}'
WHOLE = "Two rows of 20 are 40.\nAnswer: 70\nConfidence: 0.62"


def serious(page: Any) -> list[str]:
    """What axe finds, as "rule: element"."""
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text())
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{problem['id']}: {node['target']} {node['failureSummary']}" for problem in found for node in problem["nodes"]
    ]


def first(page: Any) -> None:
    assert page.asked() == []


def claims(page: Any) -> None:
    page.answer("How many eggs?", contract="claims", t=0.5)
    page.find(".step .sure").first.click()
    page.find(".answer math").wait_for()


def panels(page: Any) -> None:
    claims(page)
    for summary in (".raw summary", ".program summary", "#options summary"):
        page.find(summary).click()


def abstained(page: Any) -> None:
    page.answer("How many hens?", contract="response", t=0.9)


def opened(page: Any) -> None:
    """Everything that can be folded out."""
    page.answer("How many hens?", contract="response", t=0.5)
    page.find("button:text-is('Ask a follow-up')").click()
    page.find(".badge").click()
    for summary in ("#batch summary", "#history summary"):
        page.find(summary).click()


def voted(page: Any) -> None:
    page.find("#options summary").click()
    page.find("[name=samples]").fill("3")
    page.answer("How many votes?", contract="response", t=0.5)
    page.find(".group.chosen").wait_for()


def explicit(page: Any) -> None:
    page.answer("How many hens?", contract="explicit_risk", t=0.9)
    page.move(0.3)


def failed(page: Any) -> None:
    page.ask("How many geese?")
    page.wait_for("failed")


SOURCE = {
    "eggs": STEPS,
    "hens": WHOLE,
    "geese": Script([""], error=EngineOverloaded("full", 30.0)),
    "wide": WIDE,
    "votes": [WHOLE, WHOLE.replace("0.62", "0.3"), WHOLE.replace("70", "80")],
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", [first, claims, panels, opened, abstained, voted, explicit, failed])
def test_axe_finds_nothing(visit, state, scheme) -> None:
    page = visit(SOURCE, manifest={"calibrated": False}, context={"color_scheme": scheme, "reduced_motion": "reduce"})
    state(page)
    assert serious(page.page) == []


@pytest.mark.parametrize("state", [first, claims, panels, abstained])
def test_axe_finds_nothing_on_a_phone(visit, state) -> None:
    page = visit(SOURCE, context={"viewport": PHONE, "has_touch": True, "is_mobile": True, "reduced_motion": "reduce"})
    state(page)
    assert serious(page.page) == []


@pytest.mark.parametrize("width", [320, 390, 640, 768])
def test_nothing_is_wider_than_the_screen(visit, width) -> None:
    """640 is a screen of 1280 at 200 % zoom, 320 the same at 400 %."""
    page = visit(SOURCE, context={"viewport": {"width": width, "height": 800}})
    wide = "document.documentElement.scrollWidth - innerWidth"
    assert page.page.evaluate(wide) <= 0
    page.answer("A wide one?", t=0.5)
    page.find(".step math").wait_for()
    page.find("#options summary").click()
    page.find(".program summary").click()
    page.find(".raw summary").click()
    assert page.page.evaluate(wide) <= 0


def test_the_slider_stays_in_view_on_a_phone(visit) -> None:
    page = visit(SOURCE, context={"viewport": PHONE, "has_touch": True, "is_mobile": True})
    page.answer("How many eggs?", contract="claims")
    page.find(".program summary").tap()
    page.page.mouse.wheel(0, 3000)
    page.page.wait_for_function("scrollY > 200")
    assert page.find("#threshold").evaluate("(one) => one.getBoundingClientRect().top") < 120


def test_a_tap_shows_a_reason_and_another_hides_it(visit) -> None:
    page = visit(SOURCE, context={"viewport": PHONE, "has_touch": True, "is_mobile": True})
    page.answer("How many eggs?", contract="claims", t=0.5)
    step = page.find(".step").first
    step.tap()
    assert step.locator(".reason").is_visible()
    step.locator(".sure").tap()
    assert not step.locator(".reason").is_visible()


def test_everything_is_done_with_the_keyboard(visit) -> None:
    page = visit(SOURCE)
    press = page.page.keyboard.press
    page.find("#question").focus()
    page.page.keyboard.type("How many eggs?")
    press("Enter")
    page.wait_for("answer")
    for _ in range(12):
        press("Tab")
        if page.page.evaluate("document.activeElement.id") == "threshold":
            break
    assert page.find("#threshold").get_attribute("aria-valuetext") == "50%: doubtful answer, 1 of 3 steps below"
    press("End")
    assert page.find("#threshold").get_attribute("aria-valuetext") == "100%: doubtful answer, 3 of 3 steps below"
    press("Home")
    for _ in range(3):  # past what is done with the answer
        press("Tab")
    assert page.page.evaluate("document.activeElement.className") == "sure"
    press("Enter")
    assert page.page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    press("Escape")


def test_focus_can_be_seen(visit) -> None:
    page = visit(SOURCE)
    claims(page)
    for selector in ("#send", "#threshold", ".sure >> nth=0", "summary >> nth=0", "input[name=contract] >> nth=0"):
        page.page.keyboard.press("Tab")
        page.find(selector).focus()
        assert page.find(selector).evaluate("(one) => getComputedStyle(one).outlineStyle") == "solid"


def test_a_screen_reader_hears_the_verdict_once_and_not_every_word(visit) -> None:
    page = visit(SOURCE)
    page.page.evaluate(
        """() => {
          window.heard = [];
          const announcer = document.getElementById('announcer');
          new MutationObserver(() => heard.push(announcer.textContent)).observe(announcer, { childList: true });
        }"""
    )
    page.answer("How many eggs?", contract="claims", t=0.5)
    page.move(0.99)
    heard = page.page.evaluate("heard")
    assert heard[0] == "Asking."
    assert heard[1:] == [
        "Doubtful answer. 1% sure. As sure as its weakest step. 1 of 3 steps is below the 50% you asked for: marked, with the reason."
    ]
    assert page.find("[aria-live], [role=status], [role=alert], output").count() == 5, (
        "slider's output, copy, verdict, what is missing, a file's progress"
    )


def test_marks_survive_forced_colours(visit) -> None:
    page = visit(SOURCE, context={"forced_colors": "active"})
    claims(page)
    doubted, sure = page.find(".step.doubted"), page.find(".step:not(.doubted)").first
    assert doubted.locator(".mark").is_visible()
    assert not sure.locator(".mark").evaluate("(mark) => mark.offsetWidth > 0")


def test_doubt_survives_forced_colours(visit) -> None:
    """Tints are gone there, so the line beside a step grows with its doubt."""
    page = visit(SOURCE, context={"forced_colors": "active"})
    claims(page)
    widths = page.find(".step .text").evaluate_all(
        "(all) => all.map((one) => parseFloat(getComputedStyle(one).borderLeftWidth))"
    )
    assert widths == sorted(widths)
    assert widths[0] < widths[1] < widths[2]


def test_without_motion_nothing_moves(visit) -> None:
    page = visit(SOURCE, context={"reduced_motion": "reduce"})
    claims(page)
    durations = page.page.evaluate(
        "[...document.querySelectorAll('*')].map((one) => getComputedStyle(one).transitionDuration)"
    )
    assert set(durations) == {"0s"}


def test_the_keyboard_is_never_left_on_a_button_that_is_gone(visit) -> None:
    page = visit(SOURCE)
    active = "document.activeElement.id"
    page.find("#question").fill("How many hens?")
    page.find("input[value=response]").check()
    page.move(0.9)
    page.find("#send").focus()
    page.page.keyboard.press("Enter")
    page.wait_for("abstain")
    assert page.page.evaluate(active) == "send"
    page.find("button:text-is('Show it at 62%')").focus()
    page.page.keyboard.press("Enter")
    page.wait_for("answer")
    assert page.page.evaluate(active) == "threshold"
