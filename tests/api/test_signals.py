"""Signals: several raw numbers about one answer, each there or missing with the reason, never more than may be told."""

import asyncio

import pytest

from demur.engine.base import EngineError
from demur.engine.critic import CriticUnavailable
from demur.engine.scripted import ScriptedEngine
from demur.engine.scripted_critic import ScriptedCritic
from demur.serving.app_loading import open_app
from demur.serving.errors import CannotLoad
from demur.settings import Settings

SURE = "reason\nAnswer: 7\nConfidence: 0.9"


@pytest.fixture
def build(make):
    def server(*outputs, values=None, error=None, **settings):
        critic = ScriptedCritic(values or {"Answer:": 0.6}, error=error)
        return make(
            ScriptedEngine(lambda messages: outputs),
            manifest={"critic": {"path": "critic", "scale": "unit"}},
            critic=critic,
            **settings,
        )

    return server


def values_of(reply):
    return {name: signal["value"] for name, signal in reply["signals"].items()}


def test_nothing_is_shown_or_computed_that_nobody_asked_for(build) -> None:
    server = build(SURE)
    assert "signals" not in server.ask().json()
    assert not server.critic.asked


def test_several_are_shown_beside_the_one_that_decides(build) -> None:
    server = build(SURE)
    reply = server.ask(include_signals=["critic", "verbalized"]).json()
    assert list(values_of(reply).items()) == [("critic", 0.6), ("verbalized", 0.9)]
    assert (reply["confidence"], reply["confidence_source"]) == (0.9, "verbalized")
    reply = server.ask(include_signals=["verbalized"], confidence_source="critic").json()
    assert (values_of(reply), reply["confidence"]) == ({"verbalized": 0.9}, 0.6)


@pytest.mark.parametrize(("output", "reason"), [("Answer: 7", "states no"), ("Answer: 7\nConfidence: 7", "no prob")])
def test_what_is_not_stated_is_missing_and_never_nought(build, output, reason) -> None:
    reply = build(output).ask(include_signals=["verbalized"], risk_threshold=0).json()
    assert reply["signals"]["verbalized"]["value"] is None
    assert reason in reply["signals"]["verbalized"]["missing"]


def test_a_signal_that_is_not_served_is_missing_beside_others(make) -> None:
    reply = make(ScriptedEngine(lambda messages: SURE)).ask(include_signals=["critic", "verbalized"]).json()
    assert "no critic" in reply["signals"]["critic"]["missing"]
    assert values_of(reply) == {"critic": None, "verbalized": 0.9}


@pytest.mark.parametrize("error", [EngineError("secret"), CriticUnavailable("secret")])
def test_one_that_fails_costs_the_answer_only_where_it_decides(build, error) -> None:
    server = build(SURE, error=error)
    beside = server.ask(include_signals=["critic"])
    assert (beside.status_code, beside.json()["decision"]) == (200, "answer")
    assert beside.json()["signals"]["critic"]["value"] is None
    assert "secret" not in beside.text
    assert server.ask(confidence_source="critic").status_code >= 500


@pytest.mark.parametrize("path", ["/v1/answers", "/v1/chat/completions"])
def test_of_a_withheld_answer_only_the_deciding_one_is_told(build, path) -> None:
    server = build(SURE)
    asked = {"question": "q"} if path == "/v1/answers" else {"messages": [{"role": "user", "content": "q"}]}
    body = asked | {"include_signals": ["verbalized", "critic"], "risk_threshold": 0.95}
    reply = server.call("POST", path, json=body).json()
    reply = reply["choices"][0]["demur"] if "choices" in reply else reply
    assert reply["decision"] == "abstain"
    assert values_of(reply) == {"verbalized": 0.9, "critic": None}
    assert reply["signals"]["critic"]["missing"] == "withheld with the answer"
    shown = server.call("POST", path, json=body | {"include_withheld": True}).json()
    assert values_of(shown["choices"][0]["demur"] if "choices" in shown else shown) == {
        "verbalized": 0.9,
        "critic": 0.6,
    }


def test_in_a_vote_what_voted_is_the_groups_and_the_rest_the_chosen_samples(build) -> None:
    outputs = [f"Answer: {answer}\nConfidence: {p}" for answer, p in (("right", 0.9), ("wrong", 0.2), ("right", 0.6))]
    server = build(*outputs, values={"right": 0.3, "wrong": 0.1})
    asked = {"samples": 3, "risk_threshold": 0, "include_signals": ["verbalized", "critic"]}
    reply = server.ask(**asked, selection="majority").json()
    assert reply["answer"] == "right"
    assert values_of(reply)["verbalized"] == reply["confidence"] == pytest.approx(0.786, abs=1e-3)
    assert (values_of(reply)["critic"], len(server.critic.asked)) == (0.3, 1)
    reply = server.ask(**asked, confidence_source="critic").json()
    assert values_of(reply) == {"verbalized": 0.9, "critic": 0.3}


def test_the_operator_chooses_what_decides_where_a_request_does_not(build) -> None:
    server = build(SURE, confidence_source="critic")
    assert server.ask().json()["confidence_source"] == "critic"
    assert server.ask(confidence_source="verbalized").json()["confidence"] == 0.9
    assert server.ask(contract="claims", risk_threshold=0).json()["confidence_source"] == "verbalized"
    assert server.ask(contract="explicit_risk").json()["confidence_source"] == "none"


@pytest.mark.parametrize("named", ["verbalized", ["oracle"], [1], None, ["verbalized"] * 17])
def test_names_are_checked(build, named) -> None:
    response = build(SURE).ask(include_signals=named)
    assert response.status_code == 400
    assert response.json()["error"]["param"].startswith("include_signals")


def test_a_server_does_not_start_that_could_not_decide() -> None:
    async def start() -> None:
        async with open_app(Settings(engine="scripted", confidence_source="critic"), {}):
            pass

    with pytest.raises(
        CannotLoad, match=r"--confidence-source critic is not served .* it has verbalized, answer_logprob"
    ):
        asyncio.run(start())
    with pytest.raises(ValueError, match="'oracle' is not one of 'verbalized', 'critic'"):
        Settings(confidence_source="oracle")
