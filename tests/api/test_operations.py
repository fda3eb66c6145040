import asyncio
import json
import logging

import httpx
import pytest
from fastapi import FastAPI

from demur.api import web
from demur.engine.base import EngineDead, EngineOverloaded
from demur.engine.scripted import Script, ScriptedEngine
from demur.observability.logs import JsonFormatter
from demur.prompts import prompt_hash

RESPONSE = "Two and two.\nAnswer: 4\nConfidence: 0.9"


def metrics(server) -> dict[str, float]:
    """Sample name with labels -> value."""
    lines = server.call("GET", "/metrics").text.splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


def test_health_and_ready(make) -> None:
    server = make()
    assert server.call("GET", "/health").json() == {"status": "alive"}
    assert server.call("GET", "/ready").json() == {"status": "ready", "model": "demur-test"}


def test_a_dead_engine_is_alive_but_not_ready(make) -> None:
    server = make()
    server.engine.die()
    assert server.call("GET", "/health").status_code == 200
    response = server.call("GET", "/ready")
    assert response.status_code == 503
    assert response.json()["error"]["type"] == "unavailable"


class Counting(ScriptedEngine):
    """Counts how often it is looked at."""

    looks = 0
    refuses = False

    async def check(self) -> None:
        self.looks += 1
        if self.refuses:
            raise EngineOverloaded("no upstream answers")


def test_ready_says_what_the_watch_saw_and_looks_at_nothing(run) -> None:
    server = run(Counting())
    with httpx.Client(base_url=server.url) as client:
        assert {client.get("/ready").status_code for _ in range(50)} == {200}
        assert server.engine.looks < 25
        server.engine.refuses = True
        with pytest.raises(EngineOverloaded):
            asyncio.run(server.app.state.context.health.check())
        looks = server.engine.looks
        refused = client.get("/ready")
        assert (refused.status_code, refused.json()["error"]["type"]) == (429, "rate_limited")
        assert server.engine.looks - looks < 2


def test_death_is_told_once_and_stays(make) -> None:
    server = make(ScriptedEngine({"q": Script([RESPONSE], error=EngineDead("no more memory"))}))
    told: list[str] = []
    health = server.app.state.context.health
    health.on_death(lambda: told.append(health.cause_of_death))
    assert server.ask("q").status_code == 503
    assert server.ask("q").status_code == 503
    assert server.call("GET", "/ready").status_code == 503
    assert told == ["no more memory"]


def test_an_overloaded_engine_is_not_dead(make) -> None:
    server = make(ScriptedEngine({"q": Script([RESPONSE], error=EngineOverloaded("full"))}))
    assert server.ask("q").status_code == 429
    assert server.call("GET", "/ready").status_code == 200


def test_death_is_noticed_without_any_request(run) -> None:
    server = run()
    noticed = asyncio.Event()

    async def wait() -> None:
        loop = asyncio.get_running_loop()
        server.app.state.context.health.on_death(lambda: loop.call_soon_threadsafe(noticed.set))
        server.engine.die()
        await asyncio.wait_for(noticed.wait(), 10)

    asyncio.run(wait())


def test_answers_are_counted(make) -> None:
    server = make(ScriptedEngine({"q": RESPONSE, "silent": "Answer: 4"}))
    server.ask("q", risk_threshold=0.5)
    server.ask("q", risk_threshold=0.95)
    server.ask("silent", stream=True)
    server.chat("q", n=2)
    server.ask("q", contract="nothing")
    counted = metrics(server)
    base = 'demur_answers_total{contract="response",'
    assert counted[base + 'decision="answer",endpoint="/v1/answers",reason=""}'] == 1
    assert counted[base + 'decision="abstain",endpoint="/v1/answers",reason="below_threshold"}'] == 1
    assert counted[base + 'decision="abstain",endpoint="/v1/answers",reason="confidence_missing"}'] == 1
    assert counted[base + 'decision="answer",endpoint="/v1/chat/completions",reason=""}'] == 2
    assert counted['demur_readings_total{contract="response",state="value"}'] == 4
    assert counted['demur_readings_total{contract="response",state="missing"}'] == 1
    assert counted['demur_confidence_bucket{contract="response",le="0.85"}'] == 0
    assert counted['demur_confidence_bucket{contract="response",le="0.9"}'] == 4
    assert counted['demur_tokens_total{kind="completion"}'] == 4 * 7 + 2
    assert counted['demur_requests_total{endpoint="/v1/answers",method="POST",status="200"}'] == 3
    assert counted['demur_requests_total{endpoint="/v1/answers",method="POST",status="400"}'] == 1
    assert counted['demur_time_to_first_event_seconds_count{endpoint="/v1/answers"}'] == 4
    assert counted['demur_request_seconds_count{endpoint="/v1/chat/completions"}'] == 1
    assert counted["demur_engine_running_samples"] == 0
    assert counted["demur_requests_in_flight"] == 1


def test_unknown_paths_make_no_new_series(make) -> None:
    server = make()
    for i in range(3):
        server.call("GET", f"/nowhere/{i}")
    server.call("BREW", "/health")
    counted = metrics(server)
    assert counted['demur_requests_total{endpoint="unmatched",method="GET",status="404"}'] == 3
    assert counted['demur_requests_total{endpoint="/health",method="other",status="405"}'] == 1


def test_two_apps_count_apart(make) -> None:
    one, other = make(), make()
    one.ask()
    assert not any("/v1/answers" in name for name in metrics(other))


def test_models(make) -> None:
    server = make(manifest={"name": "org/demur-smol", "contracts": ["claims"], "aggregation": "product"})
    (model,) = server.call("GET", "/v1/models").json()["data"]
    assert model == server.call("GET", "/v1/models/org/demur-smol").json()
    assert (model["id"], model["object"], model["owned_by"]) == ("org/demur-smol", "model", "demur")
    assert model["demur"] == {
        "calibrated": True,
        "contracts": ["claims"],
        "aggregation": "product",
        "confidence_sources": ["verbalized", "answer_logprob", "agreement", "p_true"],
        "max_model_len": 4096,
        "risk_threshold": 0.5,
        "min_risk_threshold": 0.0,
        "recipe": None,
        "base": None,
        "prompts": {"claims": prompt_hash("claims", "general")},
        "fingerprint": model["demur"]["fingerprint"],
        "calibrators": [],
        "contract_cards": {
            "claims": {
                "granularities": ["claims", "response"],
                "states_confidence": True,
                "states_threshold": False,
            }
        },
        "examples": [],
        "measured": {},
    }


def test_models_of_one_name_are_told_apart(make) -> None:
    def card(**manifest):
        return make(manifest={"name": "m", **manifest}).call("GET", "/v1/models/m").json()["demur"]

    prints = [card(**of)["fingerprint"] for of in ({}, {"recipe": "grpo"}, {"training": {"domain": "maths"}})]
    assert len(set(prints)) == 3
    assert card(metrics={"accuracy": 0.5})["fingerprint"] == prints[0]
    assert card(training={"domain": "maths"}, contracts=["response"])["prompts"] == {
        "response": prompt_hash("response", "maths")
    }


def test_no_page_of_another_origin_may_read_replies(make) -> None:
    response = make().call("GET", "/v1/models", headers={"origin": "https://elsewhere.example"})
    assert "access-control-allow-origin" not in response.headers


def test_a_log_line_keeps_hostile_text_on_one_line() -> None:
    record = logging.LogRecord("demur", logging.INFO, "f", 1, 'line\n{"level": "forged"}\x1b[2J', None, None)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert "\x1b" not in line
    assert json.loads(line)["message"].startswith("line\n")


def test_the_page_is_served_beside_the_api(tmp_path) -> None:
    (tmp_path / "index.html").write_text("<title>demur</title>")
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "page.js").write_text("export {}")
    app = FastAPI()
    web.add_page(app, tmp_path)

    async def get(path: str) -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://t") as client:
            return await client.get(path)

    assert asyncio.run(get("/")).headers["content-type"].startswith("text/html")
    assert "javascript" in asyncio.run(get("/assets/page.js")).headers["content-type"]
    assert asyncio.run(get("/assets/../index.html")).status_code == 404
    assert asyncio.run(get("/assets")).status_code == 404


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("force", ["auto", "tail", "always", "never"])
def test_how_much_of_an_output_is_forced(make, calibrated, force) -> None:
    """Whole, or only the end of what could not be read; a model that was calibrated is left alone."""
    engine = ScriptedEngine(lambda messages: Script(["It is 4."], tail=Script([" 4\nConfidence: 0.9"])))
    server = make(engine, manifest={"calibrated": calibrated}, force_contract=force)
    assert server.ask().json()["calibrated"] is calibrated
    first, *tails = server.engine.drawn
    assert (first.sampling.constraint is not None) is (force == "always")
    assert bool(tails) is (force == "tail" or (force == "auto" and not calibrated))
    assert all(tail.sampling.constraint is not None and tail.written is not None for tail in tails)
