"""Token values: on request only, labelled for what they are, and of no use to what a model writes."""

import pytest

from demur.engine.scripted_critic import ScriptedCritic

pytestmark = pytest.mark.browser

WHOLE = "Two rows of 20 are <b>40</b>.\nAnswer: 70\nConfidence: 0.62"
CRITIC = {"manifest": {"critic": {"path": "critic", "scale": "unit"}}}


def open_options(page) -> None:
    page.find("#options summary").click()


def test_a_server_without_a_critic_offers_none(visit) -> None:
    page = visit({"eggs": WHOLE})
    open_options(page)
    assert page.find("select[name=include_token_values]").is_hidden()
    page.answer("How many eggs?", contract="response", t=0.5)
    assert page.find(".expected").is_hidden()


def test_what_the_critic_expected_is_shown_on_request(visit) -> None:
    page = visit({"eggs": WHOLE}, critic=ScriptedCritic({"40": 0.9, "Answer:": 0.25}), **CRITIC)
    page.answer("How many eggs?", contract="response", t=0.5)
    assert page.find(".expected").is_hidden()

    open_options(page)
    page.find("select[name=include_token_values]").select_option("true")
    page.answer("How many eggs?", contract="response", t=0.5)
    assert page.find(".expected .token").count() == 0  # closed until it is opened
    page.find(".expected summary").click()
    tokens = page.find(".expected .token")
    assert "".join(tokens.all_text_contents()) == WHOLE
    assert page.find(".expected b").count() == 0
    shown = [token.get_attribute("title") for token in tokens.all()]
    assert shown[-6:] == ["50%", "43.8%", "37.5%", "31.3%", "25%", "no value"]  # the mean over four tokens
    assert "never says which step is right" in page.find(".expected").inner_text()


def test_below_the_threshold_it_closes(visit) -> None:
    page = visit({"eggs": WHOLE}, critic=ScriptedCritic(), **CRITIC)
    open_options(page)
    page.find("select[name=include_token_values]").select_option("true")
    page.answer("How many eggs?", contract="response", t=0.5)
    page.find(".expected summary").click()
    page.find(".expected .token").first.wait_for()
    page.move(0.9)
    page.wait_for("abstain")
    assert page.find(".expected .token").count() == 0
