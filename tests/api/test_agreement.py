"""How many of the other samples agree, as a signal and as what decides."""

import pytest

from demur.engine.scripted import ScriptedEngine

ASKED = {"confidence_source": "agreement", "risk_threshold": 0}


def outputs(*answers):
    return [f"Answer: {answer}\nConfidence: 0.{9 - i}" if answer else "No idea." for i, answer in enumerate(answers)]


@pytest.fixture
def ask(make):
    def asked(*answers, **fields):
        server = make(ScriptedEngine(lambda messages: outputs(*answers)))
        return server.ask(samples=len(answers), **fields)

    return asked


@pytest.mark.parametrize(
    ("answers", "agreement"),
    [
        ("777", 1.0),
        ("7579", 1 / 3),
        ("75", 0.0),
        (["7", "", "7", ""], 1 / 3),
        (["1/2", "0.5", "7"], 0.5),
    ],
)
def test_it_is_the_share_of_the_others(ask, answers, agreement) -> None:
    reply = ask(*answers, **ASKED).json()
    assert (reply["confidence"], reply["confidence_source"]) == (pytest.approx(agreement), "agreement")
    beside = ask(*answers, include_signals=["agreement"], selection="majority", risk_threshold=0).json()
    assert beside["signals"]["agreement"] == {"value": pytest.approx(agreement), "missing": None, "cost": None}


def test_it_decides_on_the_answer_of_the_majority(ask) -> None:
    """Though the first sample is the surest, and wins by any other rule."""
    reply = ask("5", "7", "7", **ASKED | {"risk_threshold": 0.5}).json()
    assert (reply["answer"], reply["confidence"]) == ("7", 0.5)
    assert ask("5", "7", "7", **ASKED | {"risk_threshold": 0.51}).json()["reason"] == "below_threshold"
    assert [member["confidence"] for member in reply["samples"]["members"]] == [0.9, 0.8, 0.7]


def test_beside_another_rule_it_is_about_the_answer_that_was_chosen(ask) -> None:
    reply = ask("5", "7", "7", include_signals=["agreement"], selection="maxconf", risk_threshold=0).json()
    assert (reply["answer"], reply["signals"]["agreement"]["value"]) == ("5", 0.0)


def test_without_any_answer_it_is_missing(ask) -> None:
    reply = ask("", "", **ASKED, include_signals=["agreement"], include_withheld=True).json()
    assert (reply["decision"], reply["confidence"]) == ("abstain", None)
    assert "no sample" in reply["signals"]["agreement"]["missing"]


def test_of_an_answer_that_was_declined_it_is_missing(make) -> None:
    server = make(ScriptedEngine(lambda messages: [*["Answer: <IDK>"] * 3, "Answer: 7"]))
    asked = {"contract": "explicit_risk", "samples": 4, "selection": "majority", "include_signals": ["agreement"]}
    reply = server.ask(**asked, risk_threshold=0.5, include_withheld=True).json()
    assert (reply["reason"], reply["signals"]["agreement"]["value"]) == ("idk", None)
    assert "declined" in reply["signals"]["agreement"]["missing"]


def test_of_samples_that_were_stopped_only_those_drawn_count(ask) -> None:
    reply = ask(*"7777777", **ASKED, stopping="decided").json()
    assert reply["samples"]["drawn"] < 7
    assert reply["confidence"] == 1.0


@pytest.mark.parametrize(
    ("fields", "param", "words"),
    [
        ({"confidence_source": "agreement"}, "confidence_source", "set samples to 2"),
        ({"confidence_source": "agreement", "samples": 2, "selection": "majconf"}, "selection", "majority"),
    ],
)
def test_what_it_cannot_be_computed_from_is_refused_with_the_fix(make, fields, param, words) -> None:
    server = make(ScriptedEngine(lambda messages: outputs("7")))
    for response in (server.ask(**fields), server.chat(**fields)):
        assert response.status_code == 400
        assert response.json()["error"]["param"] == param
        assert words in response.json()["error"]["message"]
    assert not server.engine.drawn


def test_one_sample_agrees_with_none_and_says_so(ask) -> None:
    told = ask("7", include_signals=["agreement"], risk_threshold=0).json()["signals"]["agreement"]
    assert told == {"value": None, "missing": "only one sample was drawn", "cost": None}


def test_the_operators_choice_is_refused_in_the_same_way(make) -> None:
    server = make(ScriptedEngine(lambda messages: outputs("7", "7")), confidence_source="agreement")
    assert server.ask().status_code == 400
    assert server.ask(samples=2).json()["confidence"] == 1.0
    assert server.ask(confidence_source="verbalized").json()["confidence"] == 0.9
