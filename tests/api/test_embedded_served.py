"""What a new user gets: `demur serve` without a model, asked over HTTP."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from bench.examples import request, shows
from prometheus_client.parser import text_string_to_metric_families

from demur.measured import Example

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600)]
PATIENCE = 180.0
"""Seconds for one answer on a slow CPU."""


@pytest.fixture(scope="module")
def served(embedded_model) -> Iterator[httpx.Client]:
    command = [sys.executable, "-m", "demur", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = next(word for line in process.stdout for word in line.split() if word.startswith("http://"))
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            yield client
        process.terminate()


def ask(served: httpx.Client, question: str, t: float, **more: Any) -> dict[str, Any]:
    """Greedy, so that the same model always says the same."""
    body = {"question": question, "risk_threshold": t, "temperature": 0, **more}
    response = served.post("/v1/answers", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def test_an_easy_question_is_answered_with_high_confidence(served):
    answer = ask(served, "What is 17 + 25?", 0.5)
    assert (answer["decision"], answer["answer"], answer["calibrated"]) == ("answer", "42", True)


def test_a_question_out_of_reach_is_declined(served):
    answer = ask(served, "What is 4817 * 9365?", 0.8)
    assert (answer["decision"], answer["reason"]) == ("abstain", "below_threshold")
    assert answer["confidence"] < 0.2


def test_the_steps_of_a_problem_carry_confidences_and_reasons(served):
    answer = ask(served, "Multiply 47 by 6, then add 385.", 0.0, contract="claims", granularity="claims")
    assert len(answer["claims"]) == 2
    assert all(claim["explanation"] for claim in answer["claims"])


def test_the_critic_can_be_asked_instead(served):
    sure, unsure = (ask(served, q, 0.0, confidence_source="critic") for q in ("What is 3 + 4?", "What is 4817 * 9365?"))
    assert 0 <= unsure["confidence"] < sure["confidence"] <= 1


def running(served: httpx.Client) -> float:
    """Samples in vLLM, by its own gauge."""
    families = text_string_to_metric_families(served.get("/metrics").text)
    return sum(s.value for family in families for s in family.samples if s.name == "vllm:num_requests_running")


def test_a_decided_vote_stops_early_and_the_rest_leaves_the_engine(served):
    body = {"question": "What is 3 + 4?", "samples": 16, "selection": "majconf", "stopping": "decided"}
    answer = served.post("/v1/answers", json={**body, "risk_threshold": 0.5, "temperature": 1, "seed": 1}).json()
    assert answer["answer"] == "7"
    assert answer["samples"]["stopped_by"] == "decided"
    assert answer["samples"]["aborted"] > 0
    deadline = time.monotonic() + 30
    while running(served) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(served) == 0


def test_a_vote_keeps_an_error_rate_that_one_sample_cannot(served):
    body = {"question": "What is 17 + 25?", "max_error": 0.05}
    refused = served.post("/v1/answers", json=body)
    assert refused.status_code == 409
    samples = re.search(r"or with samples: (\d)$", refused.json()["error"]["message"])
    assert samples
    reply = served.post("/v1/answers", json=body | {"samples": int(samples[1])}).json()
    assert (reply["confidence_source"], reply["calibrated"]) == ("calibrated", True)
    assert reply["guarantee"]["max_error"] == 0.05
    assert (reply["decision"] == "answer") == (reply["confidence"] >= reply["guarantee"]["threshold"])


def test_each_example_shows_what_it_says(served):
    """Greedy; `python -m bench examples` asks each 50 times as the page would."""
    examples = served.get("/v1/models").json()["data"][0]["demur"]["examples"]
    assert examples  # an export makes a manifest without: python -m bench examples --write
    for one in examples:
        example = Example.model_validate(one)
        asked = request(example)
        question, t = asked.pop("question"), asked.pop("risk_threshold")
        assert shows(example, ask(served, question, t, **asked)), example
