"""Asking: what is sent, and what can be seen at which moment."""

import pytest

from demur.engine.scripted import Gate, Script

pytestmark = pytest.mark.browser

STEPS = """Some private thoughts first.
Solution:
<Confidence value=0.97 text="a small product">2 * 20 = 40</Confidence>
<Confidence value=0.41 text="the sum was not checked">40 + 30 = 70</Confidence>
Answer:70"""
RESTARTED = """Solution:
<Confidence value=0.9 text="a guess">It is 12.</Confidence>
Solution:
<Confidence value=0.8 text="checked">It is 70.</Confidence>
Answer:70"""


def after(text: str, piece: str) -> int:
    """How many words come up to the end of `piece`: where a gate stands."""
    return len(text[: text.index(piece) + len(piece)].split())


def test_steps_appear_one_by_one_as_they_close(visit) -> None:
    first, second = Gate(), Gate()
    gates = {after(STEPS, "40</Confidence>"): first, after(STEPS, "70</Confidence>"): second}
    page = visit({"eggs": Script([STEPS], gates=gates)})
    page.ask("How many eggs?", t=0.5)

    first.wait_reached()
    page.find(".step:not(.writing)").wait_for()
    assert page.find(".step:not(.writing) .number").all_inner_texts() == ["97%"]
    assert page.find(".step .text").first.inner_text() == "2 * 20 = 40"
    assert page.find(".verdict").get_attribute("data-kind") == "working"
    assert "private thoughts" not in page.find("main").inner_text()

    first.open()
    second.wait_reached()
    page.find(".step:not(.writing)").nth(1).wait_for()
    assert page.find(".step:not(.writing) .number").all_inner_texts() == ["97%", "41%"]
    assert page.find(".verdict").get_attribute("data-kind") == "working"

    second.open()
    assert page.wait_for("answer").locator(".answer").inner_text() == "70"
    assert page.find(".step").count() == 2


def test_a_step_is_tinted_by_its_confidence_and_marked_by_more_than_colour(visit) -> None:
    page = visit({"eggs": STEPS})
    page.answer("How many eggs?", t=0.5)
    sure, doubted = page.find(".step").nth(0), page.find(".step").nth(1)
    tint = "(step) => getComputedStyle(step.querySelector('.text')).backgroundColor"
    assert sure.evaluate(tint) != doubted.evaluate(tint)
    border = "(step) => getComputedStyle(step.querySelector('.text')).borderLeftColor"
    assert sure.evaluate(border) == "rgba(0, 0, 0, 0)"
    assert doubted.evaluate(border) != "rgba(0, 0, 0, 0)"
    assert doubted.locator(".mark").is_visible()
    assert not sure.locator(".mark").evaluate("(mark) => mark.offsetWidth > 0")
    page.find("button:has-text('41%')").wait_for()
    assert doubted.get_by_role("button", name="41% sure below your threshold").count() == 1
    assert sure.get_by_role("button", name="97% sure", exact=True).count() == 1


def test_the_reason_shows_by_default_below_the_threshold_and_else_on_hover_focus_or_tap(visit) -> None:
    page = visit({"eggs": STEPS})
    page.answer("How many eggs?", t=0.5)
    sure, doubted = page.find(".step").nth(0), page.find(".step").nth(1)
    page.find(".verdict h2").hover()
    assert doubted.locator(".reason").is_visible()
    assert doubted.locator(".why").inner_text() == "the sum was not checked"

    reason = sure.locator(".reason")
    assert not reason.is_visible()
    sure.hover()
    assert reason.is_visible()
    page.find(".verdict h2").hover()
    assert not reason.is_visible()
    page.find("#threshold").focus()
    for _ in range(3):  # past what is done with the answer
        page.page.keyboard.press("Tab")
    assert sure.locator("button.sure").evaluate("(button) => button === document.activeElement")
    assert reason.is_visible()
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.className") == "sure", "the next step"
    assert not reason.is_visible()
    sure.locator(".text").click()
    page.find(".verdict h2").hover()
    assert reason.is_visible()
    assert sure.locator("button.sure").get_attribute("aria-expanded") == "true"
    doubted.locator("button.sure").click()
    page.find(".verdict h2").hover()
    assert doubted.locator("button.sure").get_attribute("aria-expanded") == "false"


def test_a_second_solution_voids_the_first_and_says_so(visit) -> None:
    gate = Gate()
    page = visit({"eggs": Script([RESTARTED], gates={after(RESTARTED, "12.</Confidence>"): gate})})
    page.ask("How many eggs?")
    gate.wait_reached()
    page.find(".step:has-text('It is 12.')").wait_for()
    gate.open()
    page.wait_for("answer")
    assert page.find(".step .text").all_inner_texts() == ["It is 70."]
    assert "started its solution over" in page.find(".restarts").inner_text()


def test_an_answer_as_a_whole_stays_covered_until_its_confidence_is_there(visit) -> None:
    text = "Sixteen fit into the hold.\nAnswer: 16\nConfidence: 0.9"
    gate = Gate()
    page = visit({"hold": Script([text], gates={after(text, "Answer: 16"): gate})})
    page.ask("How many fit into the hold?", contract="response", t=0.8)
    gate.wait_reached()
    page.find(".covered:has-text('so far')").wait_for()
    assert "Sixteen" not in page.page.content()
    gate.open()
    assert page.wait_for("answer").locator(".answer").inner_text() == "16"
    assert "Sixteen fit" in page.find(".steps").inner_text()


def test_at_zero_the_whole_answer_streams(visit) -> None:
    text = "Sixteen fit into the hold.\nMore or less.\nAnswer: 16"
    gate = Gate()
    page = visit({"hold": Script([text], gates={after(text, "or less."): gate})})
    page.ask("How many fit into the hold?", contract="response", t=0)
    gate.wait_reached()
    page.find(".writing:has-text('Sixteen fit')").wait_for()
    gate.open()
    assert "nothing vouches for" in page.wait_for("answer").inner_text()


def test_what_is_left_alone_is_left_out_of_the_request(visit) -> None:
    page = visit({"eggs": STEPS})
    page.answer("How many eggs?", t=0.5)
    assert page.asked()[-1].post_data_json == {
        "question": "How many eggs?",
        "contract": "claims",
        "granularity": "claims",
        "risk_threshold": 0.5,
        "include_withheld": True,
        "include_raw": True,
        "stream": True,
    }


def test_options_reach_the_engine(visit) -> None:
    page = visit({"eggs": STEPS})
    page.find("#options summary").click()
    page.find("[name=temperature]").fill("0.3")
    page.find("[name=seed]").fill("7")
    page.find("[name=max_tokens]").fill("40")
    page.find("[name=granularity]").select_option("response")
    page.find("[name=aggregation]").select_option("product")
    verdict = page.answer("How many eggs?", t=0.3)
    sampling = page.engine.drawn[-1].sampling
    assert (sampling.temperature, sampling.seed, sampling.max_tokens) == (0.3, 7, 40)
    assert "All its steps multiplied." in verdict.inner_text()
    assert page.find(".assurance").inner_text() == "39.8% sure"


def test_options_show_only_where_they_mean_something(visit) -> None:
    page = visit({})
    page.find("#options summary").click()
    assert page.find("[name=aggregation]").is_visible()
    assert not page.find("[name=selection]").is_visible()
    page.find("input[value=response]").check()
    assert not page.find("[name=aggregation]").is_visible()
    page.find("[name=samples]").fill("4")
    page.page.keyboard.press("Tab")
    assert page.find("[name=selection]").is_visible()


def test_only_the_contracts_of_the_model_are_offered_in_its_order(visit) -> None:
    page = visit({}, manifest={"contracts": ["response", "claims"]})
    assert page.find("input[name=contract]").evaluate_all("(all) => all.map((one) => one.value)") == [
        "response",
        "claims",
    ]
    assert page.find("input[value=response]").is_checked()


def test_the_slider_starts_where_the_operator_says(visit) -> None:
    assert visit({}, risk_threshold=0.7).find("#threshold").input_value() == "70"


def test_enter_asks_and_shift_enter_breaks_the_line(visit) -> None:
    page = visit({"eggs": STEPS})
    page.find("#question").focus()
    page.page.keyboard.type("How many")
    page.page.keyboard.press("Shift+Enter")
    page.page.keyboard.type("eggs?")
    assert page.find("#question").input_value() == "How many\neggs?"
    page.page.keyboard.press("Enter")
    page.wait_for("answer")


def test_an_example_asks_at_once(visit) -> None:
    page = visit({"Saturn": STEPS})
    page.find("#examples button:has-text('Saturn')").click()
    page.wait_for("answer")
    assert "Saturn" in page.asked()[-1].post_data_json["question"]


def test_an_empty_question_is_not_sent(visit) -> None:
    page = visit({})
    page.find("#question").fill("  \n ")
    page.find("#send").click()
    assert page.asked() == []


def test_stop_ends_the_work_in_the_engine(visit) -> None:
    gate = Gate()
    page = visit({"eggs": Script([STEPS], gates={after(STEPS, "40</Confidence>"): gate})})
    page.ask("How many eggs?")
    gate.wait_reached()
    page.find(".step:not(.writing)").wait_for()
    page.find("#stop").click()
    verdict = page.wait_for("failed")
    assert "Stopped" in verdict.inner_text()
    assert "do not rely on it" in verdict.inner_text()
    while not page.engine.cancelled:
        page.page.wait_for_timeout(20)
    gate.open()
    page.find(".actions button").click()
    page.wait_for("answer")
    assert len(page.engine.cancelled) == 1


def test_a_new_question_replaces_all_of_the_last_answer(visit) -> None:
    page = visit({"eggs": STEPS, "hens": 'Solution:\n<Confidence value=0.9 text="w">One.</Confidence>\nAnswer:1'})
    page.answer("How many eggs?")
    page.ask("How many hens?")
    page.find(".answer:text-is('1')").wait_for()
    assert page.find(".step .text").all_inner_texts() == ["One."]


def test_a_wrong_option_is_shown_even_when_the_options_were_closed(visit) -> None:
    page = visit({"eggs": STEPS})
    page.find("#options summary").click()
    page.find("[name=samples]").fill("1.5")
    page.find("#options summary").click()
    page.ask("How many eggs?")
    assert page.find("[name=samples]").is_visible()
    assert page.asked() == []
