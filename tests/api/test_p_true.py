"""Asking the model whether its own answer is right: one more call, which decides, may fail and can be given up."""

import asyncio
from math import exp, log

import httpx
import pytest

from demur import prompts
from demur.answering.confidence.p_true import yes_share
from demur.engine.base import EngineDead, EngineError, EngineOverloaded, RequestRefused
from demur.engine.scripted import Gate, Script, ScriptedEngine

OUTPUT = "canary reason\nAnswer: canary-answer\nConfidence: 0.9"
ASKED = {"confidence_source": "p_true"}
BESIDE = {"include_signals": ["p_true"]}
SPELLINGS = {"Yes": log(0.5), " yes": log(0.1), "NO": log(0.15), "\u2581no.": log(0.05), "Maybe": log(0.1)}


def engine_with(output: str | list[str] = OUTPUT, alternatives=SPELLINGS, **options):
    """Answers with `output`, and the question whether it is right with `alternatives`."""
    script = Script(["Yes"], alternatives=alternatives, **options)
    return ScriptedEngine(lambda messages: script if prompts.asks_if_right(messages) else output)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("t", "decision"), [(0.74, "answer"), (0.76, "abstain")])
def test_it_decides_by_all_spellings_of_both_words(make, events, stream, t, decision) -> None:
    response = make(engine_with()).ask(**ASKED, risk_threshold=t, stream=stream)
    reply = events(response.text)[-1][1] if stream else response.json()
    assert (reply["decision"], reply["confidence_source"]) == (decision, "p_true")
    assert reply["confidence"] == pytest.approx(0.75)
    assert ("canary" in response.text) == (decision == "answer")


def test_it_goes_on_with_the_same_conversation(make) -> None:
    server = make(engine_with())
    server.ask("How many eggs?", **ASKED)
    answered, asked = server.engine.drawn
    assert asked.messages[: len(answered.messages)] == answered.messages
    assert asked.messages[len(answered.messages)] == {"role": "assistant", "content": OUTPUT}
    assert asked.messages[-1] == {"role": "user", "content": prompts.IS_IT_RIGHT}
    assert (asked.sampling.max_tokens, asked.sampling.constraint, answered.sampling.logprobs) == (1, None, None)


def test_the_further_turn_takes_the_same_template_arguments(make) -> None:
    server = make(engine_with())
    server.ask("How many eggs?", **ASKED, chat_template_kwargs={"enable_thinking": False})
    assert [drawn.template for drawn in server.engine.drawn] == [{"enable_thinking": False}] * 2


def test_nobody_else_pays_for_it(make) -> None:
    server = make(engine_with())
    reply = server.ask(include_signals=["verbalized", "answer_logprob"]).json()
    assert len(server.engine.drawn) == 1
    assert "signal_tokens" not in reply["usage"]
    assert reply["signals"]["answer_logprob"]["cost"] is None


def test_what_it_costs_is_told_and_counted(make) -> None:
    server = make(engine_with())
    plain, reply = server.ask().json(), server.ask(**BESIDE).json()
    cost = reply["signals"]["p_true"]["cost"]
    prompt = plain["usage"]["prompt_tokens"] + len(OUTPUT.split()) + len(prompts.IS_IT_RIGHT.split())
    assert (cost["calls"], cost["prompt_tokens"], cost["completion_tokens"]) == (1, prompt, 1)
    assert cost["cached_tokens"] is None
    assert cost["milliseconds"] > 0
    assert reply["usage"] == plain["usage"] | {"signal_tokens": prompt + 1}


def test_of_several_samples_only_the_chosen_one_is_asked_about(make) -> None:
    outputs = [f"Answer: {answer}\nConfidence: {p}" for answer, p in (("7", 0.6), ("9", 0.7), ("7", 0.5))]
    server = make(engine_with(outputs))
    reply = server.ask(samples=3, **ASKED, risk_threshold=0).json()
    assert (reply["answer"], reply["confidence"], len(server.engine.drawn)) == ("7", pytest.approx(0.75), 4)
    assert server.engine.drawn[-1].messages[-2]["content"] == outputs[0]
    assert [member["confidence"] for member in reply["samples"]["members"]] == [0.6, 0.7, 0.5]


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (engine_with(alternatives={}), "told no log-probabilities"),
        (engine_with(logprobs=None), "told no log-probabilities"),
        (engine_with(alternatives={"Perhaps": -0.1, "I": -2.0}), "neither yes nor no"),
        (engine_with(output="I do not see it."), "no answer"),
        (engine_with(error=RequestRefused("too long")), "does not take the question"),
    ],
    ids=["no alternatives", "no log-probabilities", "other words", "no answer", "refused"],
)
def test_where_there_is_none_it_is_missing(make, engine, reason) -> None:
    server = make(engine)
    beside = server.ask(**BESIDE, include_withheld=True, risk_threshold=0).json()
    assert beside["signals"]["p_true"]["value"] is None
    assert reason in beside["signals"]["p_true"]["missing"]
    reply = server.ask(**ASKED).json()
    assert (reply["decision"], reply["confidence"]) == ("abstain", None)


def test_an_output_that_fills_the_model_is_not_asked_about(make) -> None:
    engine = ScriptedEngine(lambda messages: OUTPUT, max_model_len=70)
    reply = make(engine).ask("How? " * 25, **BESIDE, risk_threshold=0).json()
    assert reply["decision"] == "answer"
    assert "no room" in reply["signals"]["p_true"]["missing"]


@pytest.mark.parametrize("error", [EngineError("secret"), EngineOverloaded("secret"), EngineDead("secret")])
def test_a_call_that_fails_costs_the_answer_only_where_it_decides(make, error) -> None:
    beside = make(engine_with(error=error)).ask(**BESIDE)
    assert (beside.status_code, beside.json()["decision"]) == (200, "answer")
    assert beside.json()["signals"]["p_true"]["value"] is None
    failed = make(engine_with(error=error)).ask(**ASKED)
    assert failed.status_code in (429, 502, 503)
    for response in (beside, failed):
        assert "secret" not in response.text


@pytest.mark.parametrize("fields", [ASKED, BESIDE])
def test_the_deadline_holds_during_it(make, fields) -> None:
    server = make(engine_with(gates={0: Gate()}))
    response = server.ask(**fields, timeout=0.2)
    assert response.status_code == 504
    assert "canary" not in response.text
    assert (server.engine.running, len(server.engine.cancelled)) == (0, 1)


@pytest.mark.parametrize("path", ["/v1/answers", "/v1/chat/completions"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_stops_it(run, path, stream) -> None:
    gate = Gate()
    server = run(engine_with(gates={0: gate}))
    asked = {"question": "q"} if path == "/v1/answers" else {"messages": [{"role": "user", "content": "q"}]}

    async def leave() -> None:
        async with httpx.AsyncClient(base_url=server.url) as client:
            asking = asyncio.create_task(client.post(path, json=asked | ASKED | {"stream": stream}))
            await asyncio.to_thread(gate.wait_reached)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            async with asyncio.timeout(10):
                while server.engine.running:
                    await client.get("/health")

    asyncio.run(leave())
    assert len(server.engine.cancelled) == 1
    gate.open()


@pytest.mark.parametrize(
    ("alternatives", "share"),
    [
        ({"yes": 0.6, "no": 0.2}, 0.75),
        ({"Yes": 0.3, " YES": 0.3, '"yes"': 0.1, "no": 0.3}, 0.7),
        ({"No": 0.9, "Yes": 0.1}, 0.1),
        ({"Yes": 0.9, "I": 0.1}, 0.9),
        ({"no": 0.5, "The": 0.2, "nothing": 0.125}, 0.2),
        ({"yesterday": 0.5, "nope": 0.5}, None),
        ({}, None),
    ],
)
def test_the_share_of_yes(alternatives, share) -> None:
    found = yes_share([(text, log(p)) for text, p in alternatives.items()])
    assert found == (share if share is None else pytest.approx(share))


def test_the_demo_thinks_as_well_of_its_answers_as_it_says(make) -> None:
    reply = make().ask("What is the capital of Australia?", **BESIDE).json()
    assert reply["signals"]["p_true"]["value"] == pytest.approx(reply["confidence"])
    assert exp(log(reply["confidence"])) == pytest.approx(0.97)
