"""The slider: everything follows it at once, nothing is asked again, and what cannot be moved says why."""

import pytest

pytestmark = pytest.mark.browser

STEPS = """Solution:
<Confidence value=0.97 text="a small product">2 * 20 = 40</Confidence>
<Confidence value=0.41 text="the sum was not checked">40 + 30 = 70</Confidence>
Answer:70"""
WHOLE = "Two rows of 20 are 40. With 30 more that makes 70.\nAnswer: 70\nConfidence: 0.62"
SECRETS = ("Two rows", "makes 70")


def doubted(page) -> list[bool]:
    return page.find(".step").evaluate_all("(steps) => steps.map((step) => step.classList.contains('doubted'))")


def test_marks_follow_the_slider_without_a_request(visit) -> None:
    page = visit({"eggs": STEPS})
    page.answer("How many eggs?", t=0.5)
    assert doubted(page) == [False, True]
    before = len(page.requests)
    page.move(0.41)
    assert doubted(page) == [False, False]
    page.move(0.42)
    assert doubted(page) == [False, True]
    page.move(1)
    assert doubted(page) == [True, True]
    page.move(0)
    assert doubted(page) == [False, False]
    assert "All 2 steps reach the 0% you asked for" in page.find(".verdict").inner_text()
    assert len(page.requests) == before


def test_every_position_is_decided_in_the_frame_it_is_reached(visit) -> None:
    """Read right after each input event, before the browser draws: no timer, no frame, no reply is waited for."""
    page = visit({"eggs": STEPS})
    page.answer("How many eggs?", t=0.5)
    marks = page.page.evaluate(
        """() => Array.from({ length: 101 }, (_, at) => {
          const slider = document.getElementById('threshold');
          slider.value = at;
          slider.dispatchEvent(new Event('input'));
          return document.querySelectorAll('.step.doubted').length;
        })"""
    )
    assert marks == [0] * 42 + [1] * 56 + [2] * 3


def test_the_example_teaches_the_slider_before_anything_is_asked(visit) -> None:
    page = visit({})
    page.move(0.9)
    assert doubted(page) == [False, True, True]
    page.move(0.2)
    assert doubted(page) == [False, False, False]
    assert "2 of 3 steps below" not in page.find("#threshold").get_attribute("aria-valuetext")
    assert page.asked() == []


def test_an_answer_below_the_threshold_is_covered_and_can_be_uncovered(visit) -> None:
    page = visit({"eggs": WHOLE})
    verdict = page.answer("How many eggs?", contract="response", t=0.8)
    assert "No answer" in verdict.inner_text()
    assert "62% sure" in verdict.inner_text()
    assert "You asked for at least 80%" in verdict.inner_text()
    assert page.find(".covered").inner_text() == "12 words withheld"
    assert not any(secret in page.page.content() for secret in SECRETS)

    before = len(page.requests)
    page.find("button:text-is('Show it at 62%')").click()
    assert page.find("#threshold").input_value() == "62"
    assert page.find(".answer").inner_text() == "70"
    assert "Two rows of 20" in page.find(".steps").inner_text()
    page.move(0.63)
    assert "No answer" in page.find(".verdict").inner_text()
    assert not any(secret in page.page.content() for secret in SECRETS)
    assert len(page.requests) == before


def test_claims_decided_as_a_whole_are_shown_or_covered_together(visit) -> None:
    page = visit({"eggs": STEPS})
    page.find("#options summary").click()
    page.find("[name=granularity]").select_option("response")
    page.answer("How many eggs?", t=0.8)
    assert page.find(".step").count() == 0
    page.move(0.41)
    assert doubted(page) == [False, False]
    page.move(0.42)
    assert page.find(".step").count() == 0
    assert "As sure as its weakest step" in page.find(".verdict").inner_text()


def test_without_withheld_text_the_slider_only_moves_up_and_says_why(visit) -> None:
    page = visit({"eggs": WHOLE}, allow_withheld=False)
    page.answer("How many eggs?", contract="response", t=0.8)
    assert [request.post_data_json.get("include_withheld") for request in page.asked()] == [True, None]
    page.move(0.9)
    assert page.find("#threshold").input_value() == "90"
    page.move(0.3)
    assert page.find("#threshold").input_value() == "80"
    assert "keeps withheld text to itself" in page.find("#ruler-note").inner_text()
    assert not any(secret in page.page.content() for secret in SECRETS)

    page.find("#ruler-note button:text-is('Ask again at 30%')").click()
    page.wait_for("answer")
    assert page.asked()[-1].post_data_json["risk_threshold"] == 0.3
    page.move(0.1)
    assert page.find("#threshold").input_value() == "10", "what is here can be held to less"
    assert len(page.asked()) == 3, "the refusal is remembered"


def test_another_question_frees_the_slider(visit) -> None:
    page = visit({"eggs": WHOLE}, allow_withheld=False)
    page.answer("How many eggs?", contract="response", t=0.8)
    page.find("#question").fill("How many hens?")
    page.move(0.3)
    assert page.find("#threshold").input_value() == "30"
    assert "You asked for at least 80%" in page.find(".verdict").inner_text(), "the old answer stays what it was"


def test_an_explicit_risk_answer_cannot_be_moved_and_says_so(visit) -> None:
    page = visit({"eggs": "It is 70.\nAnswer: 70"})
    verdict = page.answer("How many eggs?", contract="explicit_risk", t=0.8)
    assert "part of the question" in verdict.inner_text()
    assert page.find(".assurance").is_hidden()
    page.move(0.6)
    assert "at least 80% sure, and it answered" in verdict.inner_text()
    page.find("button:text-is('Ask again at 60%')").click()
    page.find(".because:has-text('at least 60% sure')").wait_for()
    assert page.asked()[-1].post_data_json["risk_threshold"] == 0.6


def test_an_explicit_risk_question_can_be_declined(visit) -> None:
    page = visit({"eggs": "Hard to say.\nAnswer: <IDK>"})
    verdict = page.answer("How many eggs?", contract="explicit_risk", t=0.8)
    assert "it declined" in verdict.inner_text()
    assert "No answer" in verdict.inner_text()


def test_the_ticks_stand_where_the_confidences_are(visit) -> None:
    page = visit({"eggs": STEPS})
    page.answer("How many eggs?", t=0.41)
    thumb = "(input) => { const box = input.getBoundingClientRect(); return box.left + 12 + (box.width - 24) * 0.41; }"
    tick = "(tick) => { const box = tick.getBoundingClientRect(); return box.left + box.width / 2; }"
    at = page.find(".tick.whole").evaluate(tick)
    assert at == pytest.approx(page.find("#threshold").evaluate(thumb), abs=1.5)


@pytest.mark.parametrize(("confidence", "side"), [("0.62", "before"), ("0.04", "after"), ("1", "before")])
def test_the_mark_of_the_answer_is_named_on_the_side_that_has_room(visit, confidence: str, side: str) -> None:
    page = visit({"eggs": f"Two boxes of 35.\nAnswer: 70\nConfidence: {confidence}"})
    page.answer("How many eggs?", contract="response", t=0.02)
    name, mark = page.find(".mark-name").bounding_box(), page.find(".tick.whole").bounding_box()
    assert name is not None
    assert mark is not None
    assert page.find(".mark-name").inner_text() == "this answer"
    assert name["x"] >= 0
    if side == "before":
        assert name["x"] + name["width"] <= mark["x"]
    else:
        assert name["x"] >= mark["x"] + mark["width"]


def test_the_first_press_after_typing_shows_what_is_withheld(visit) -> None:
    """Pressing a button takes the focus from the question, which makes nothing anew under the pointer."""
    page = visit({"eggs": WHOLE})
    page.find("input[value=response]").check()
    page.move(0.9)
    page.find("#question").press_sequentially("How many eggs?")
    page.find("#question").press("Enter")
    page.find(".verdict[data-kind=abstain]").wait_for()
    assert page.page.evaluate("document.activeElement.id") == "question"
    page.find(".actions button").click()
    page.find(".verdict[data-kind=answer]").wait_for(timeout=2000)
    assert page.find(".verdict .answer").inner_text() == "70"
    assert page.find("#threshold-value").inner_text() == "62%"


def test_an_option_that_was_typed_takes_no_press_away(visit) -> None:
    page = visit({"eggs": WHOLE})
    page.find("input[value=response]").check()
    page.answer("How many eggs?", t=0.9)
    page.find("#options summary").click()
    page.find("input[name=seed]").press_sequentially("7")
    page.find(".actions button").click()
    page.find(".verdict[data-kind=answer]").wait_for(timeout=2000)


def test_an_answer_below_the_threshold_that_is_not_withheld_is_called_doubtful(visit) -> None:
    page = visit({"eggs": STEPS})
    verdict = page.answer("How many eggs?", t=0.5)
    assert verdict.inner_text().startswith("Doubtful answer")
    page.move(0.4)
    assert verdict.inner_text().startswith("Answer")
