"""The server against the vectors that clients and evaluation are run against, too."""

import json
from pathlib import Path
from typing import Any

import pytest

from demur.engine.scripted import Script, ScriptedEngine
from demur.engine.scripted_critic import ScriptedCritic

VECTORS = Path(__file__).parents[1] / "vectors"


def load(folder: str) -> list[Any]:
    files = sorted((VECTORS / folder).glob("*.json"))
    assert files
    return [pytest.param(json.loads(file.read_text()), id=file.stem) for file in files]


def with_request(folder: str) -> list[Any]:
    return [case for case in load(folder) if "request" in case.values[0]]


@pytest.fixture
def server(make, vector):
    """The server a vector assumes, saying what the vector has it say."""
    completions = vector.get("completions", [{"text": "Answer: 70\nConfidence: 0.9", "finish_reason": "stop"}])
    endings = {completion["finish_reason"] for completion in completions}
    assert len(endings) == 1
    script = Script([completion["text"] for completion in completions], finish_reason=endings.pop())
    differences = vector.get("server", {})
    manifest = {name: differences[name] for name in ("contracts", "calibrated") if name in differences}
    critic = None
    if described := differences.get("critic"):
        manifest["critic"] = {"path": "critic", "scale": described["scale"]}
        critic = ScriptedCritic(described["values"], start=described["start"])
    return make(
        ScriptedEngine(lambda messages: script),
        manifest=manifest,
        critic=critic,
        allow_withheld=differences.get("withheld", True),
    )


def comparable(reply: dict[str, Any]) -> dict[str, Any]:
    """Without what differs from run to run."""
    usage = {name: reply["usage"][name] for name in ("samples_drawn", "samples_aborted")}
    samples = reply["samples"] and {**reply["samples"], "tokens": None, "tokens_saved": None}
    return {**reply, "id": None, "created": None, "usage": usage, "samples": samples}


def close(value: Any) -> Any:
    """Numbers to be compared to 1e-9."""
    if isinstance(value, dict):
        return {name: close(part) for name, part in value.items()}
    if isinstance(value, list):
        return [close(part) for part in value]
    return pytest.approx(value, abs=1e-9) if isinstance(value, float) else value


@pytest.mark.parametrize("vector", load("requests/valid"))
def test_valid_requests_are_taken(server, vector) -> None:
    response = server.call("POST", "/v1/answers", json=vector["request"])
    assert response.status_code == 200
    assert {name: response.json()[name] for name in vector["echo"]} == vector["echo"]


@pytest.mark.parametrize("vector", load("requests/invalid"))
def test_invalid_requests_are_refused_by_name(server, vector) -> None:
    body = vector["body"] if "body" in vector else json.dumps(vector["request"])
    response = server.call("POST", "/v1/answers", content=body.encode(), headers={"content-type": "application/json"})
    assert response.status_code == vector["status"]
    assert response.json()["error"]["param"] == vector["param"]
    assert response.json()["error"]["request_id"] == response.headers["x-request-id"]


@pytest.mark.parametrize("vector", [*with_request("replies"), *load("critic")])
def test_replies(server, vector) -> None:
    response = server.call("POST", "/v1/answers", json=vector["request"])
    assert response.status_code == 200
    assert comparable(response.json()) == close(comparable(vector["reply"]))


@pytest.mark.parametrize("vector", with_request("events"))
def test_events(server, events, vector) -> None:
    response = server.call("POST", "/v1/answers", json=vector["request"])
    *before, (name, reply) = events(response.text)
    assert fold(before) == close(vector["folded"])
    assert (name, comparable(reply)) == ("answer", close(comparable(vector["events"][-1]["data"])))
    said = response.text.replace(reply["id"], "").replace(str(reply["created"]), "")  # digits of their own
    for secret in vector.get("withheld", []):
        assert secret not in said


def fold(events: list[tuple[str, Any]]) -> dict[str, Any]:
    text, claims = "", []
    for name, data in events:
        match name:
            case "delta":
                text += data["text"]
            case "claim":
                assert data.pop("index") == len(claims)
                claims.append(data)
            case "reset":
                text, claims = "", []
    return {"text": text, "claims": claims}


@pytest.mark.parametrize("vector", load("chat"))
def test_chat(server, vector) -> None:
    response = server.call("POST", "/v1/chat/completions", json=vector["request"])
    choices = from_chunks(response.text) if vector["request"].get("stream") else response.json()["choices"]
    assert len(choices) == len(vector["choices"])
    for choice, expected in zip(choices, vector["choices"], strict=True):
        content = choice["message"]["content"]
        assert choice["finish_reason"] == expected["finish_reason"]
        assert all(words in content for words in expected["content_contains"])
        assert not any(words in content for words in expected["content_lacks"])
        assert comparable(choice["demur"]) == close(comparable(expected["demur"]))


def from_chunks(text: str) -> list[Any]:
    """The choices that a streamed chat completion adds up to."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    assert lines.pop() == "[DONE]"
    choices: dict[int, Any] = {}
    for chunk in map(json.loads, lines):
        for part in chunk["choices"]:
            choice = choices.setdefault(part["index"], {"message": {"content": ""}})
            choice["message"]["content"] += part["delta"].get("content", "")
            choice |= {name: part[name] for name in ("finish_reason", "demur") if part[name] is not None}
    return [choices[i] for i in sorted(choices)]
