"""Several samples: each as it arrives, then the vote, and what stopping early saved."""

import pytest

from demur.engine.scripted import Gate, Script

pytestmark = pytest.mark.browser


def says(answer: str, confidence: float, words: int = 5) -> str:
    return f"{'well ' * words}\nAnswer: {answer}\nConfidence: {confidence}"


def choose(page, samples: int, stopping: str = "none") -> None:
    page.find("#options summary").click()
    page.find("[name=samples]").fill(str(samples))
    page.find("input[value=response]").check()
    page.find("[name=stopping]").select_option(stopping)


VOTES = [says("70", 0.9), says("80", 0.6), says("70", 0.8)]


def test_samples_arrive_one_by_one(visit) -> None:
    gate = Gate()
    long = says("70", 0.8, words=50)
    page = visit({"eggs": Script([VOTES[0], long, long], gates={30: gate})})
    choose(page, 3)
    page.ask("How many eggs?", t=0.5)
    page.find(".sample").wait_for()
    assert page.find(".sample").all_inner_texts() == ["90%"]
    assert "1 of 3 samples" in page.find(".vote").inner_text()
    assert "covered until the samples have been compared" in page.find(".verdict").inner_text()
    gate.open()
    page.wait_for("answer")
    assert page.find(".sample").count() == 0


def test_the_vote_is_bars_of_its_samples(visit) -> None:
    page = visit({"eggs": VOTES})
    choose(page, 3)
    assert page.answer("How many eggs?", t=0.5).locator(".answer").inner_text() == "70"
    assert page.find(".group-answer").all_inner_texts() == ["70", "80"]
    assert page.find(".group.chosen .chosen-mark").inner_text() == "chosen"
    assert "73.9% of the weight, 2 of 3 samples, sure: 90%, 80%" in page.find(".group.chosen").inner_text()
    widths = page.find(".group").evaluate_all(
        """(groups) => groups.map((group) => {
          const dots = [...group.querySelectorAll('.dot')].map((dot) => dot.getBoundingClientRect());
          return [dots.length, dots.at(-1).right - dots[0].left];
        })"""
    )
    assert [count for count, _ in widths] == [2, 1]
    assert widths[0][1] > 1.5 * widths[1][1]


def test_an_abstention_covers_the_answers_of_the_vote(visit) -> None:
    page = visit({"eggs": VOTES})
    choose(page, 3)
    page.answer("How many eggs?", t=0.95)
    assert page.find(".group-answer").all_inner_texts() == ["covered", "covered"]
    before = len(page.requests)
    page.find(".actions button").click()
    assert page.find(".group-answer").all_inner_texts() == ["70", "80"]
    page.move(0.95)
    assert page.find(".group-answer").all_inner_texts() == ["covered", "covered"]
    assert len(page.requests) == before


def test_answers_that_the_server_keeps_are_named_as_such(visit) -> None:
    page = visit({"eggs": VOTES}, allow_withheld=False)
    choose(page, 3)
    page.answer("How many eggs?", t=0.5)
    assert page.find(".group-answer").all_inner_texts() == ["70", "another answer, not sent"]


def test_stopping_early_says_how_much_it_saved(visit) -> None:
    gate = Gate()
    page = visit({"eggs": Script([says("70", 0.9)] * 3 + [says("80", 0.1, words=90)] * 2, gates={40: gate})})
    choose(page, 5, "decided")
    page.answer("How many eggs?", t=0.5)
    summary = page.find(".vote .because").inner_text()
    assert "3 of 5 samples were enough: no other answer could win any more." in summary
    gate.open()


def test_samples_without_an_answer_are_counted(visit) -> None:
    page = visit({"eggs": [*VOTES, "I would rather not."]})
    choose(page, 4)
    page.answer("How many eggs?", t=0.1)
    assert "1 sample gave no answer that can be read" in page.find(".vote .because").inner_text()


def test_formulas_in_the_vote_are_maths(visit) -> None:
    page = visit({"eggs": [says(r"\frac{1}{2}", 0.9), says("7", 0.2)]})
    choose(page, 2)
    page.answer("How many eggs?", t=0.1)
    page.find(".group-answer mfrac").wait_for()


WHY = {
    "majconf": ("9", "add up to 1.10, the next one’s to 0.90"),
    "majority": ("9", "2 of 3 samples gave the chosen answer"),
    "maxconf": ("8", "Here it is 90% sure"),
}


@pytest.mark.parametrize("rule", WHY)
def test_the_vote_says_why_its_answer_won(visit, rule) -> None:
    answer, why = WHY[rule]
    page = visit({"eggs": [says("9", 0.5), says("8", 0.9), says("9", 0.6)]})
    choose(page, 3)
    page.find("[name=selection]").select_option(rule)
    assert page.answer("How many eggs?", t=0.1).locator(".answer").inner_text() == answer
    assert why in page.find(".vote .because").inner_text()


def test_votes_are_as_wide_as_they_weigh(visit) -> None:
    page = visit({"eggs": [says("9", 0.2), says("9", 0.2), says("8", 0.8)]})
    choose(page, 3)
    page.answer("How many eggs?", t=0.1)
    widths = page.find(".group .dot").evaluate_all("(dots) => dots.map((dot) => dot.getBoundingClientRect().width)")
    assert widths[0] > 2.5 * max(widths[1:])
