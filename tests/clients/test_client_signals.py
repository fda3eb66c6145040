"""Signals in the client: asked for by name, read as they come, and given back as they were on the wire."""

import copy
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from demur_client import NO_RETRY, Client, ReplyError, Settlement, Signal, SignalCost

VECTOR = json.loads((Path(__file__).parents[1] / "vectors/critic/signals-withheld.json").read_text(encoding="utf-8"))
COST = {"calls": 1, "prompt_tokens": 90, "cached_tokens": 64, "completion_tokens": 1, "milliseconds": 12.5}


def answered(reply: dict[str, Any], seen: list[dict[str, Any]] | None = None, **options: Any):
    def handler(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(json.loads(request.content))
        return httpx.Response(200, json=reply)

    with Client(transport=httpx.MockTransport(handler), retry=NO_RETRY) as client:
        return client.answer("q", **options)


def test_they_are_asked_for_and_read() -> None:
    reply, seen = copy.deepcopy(VECTOR["reply"]), []
    reply["signals"]["p_true"] = {"value": 0.5, "missing": None, "cost": COST}
    reply["usage"]["signal_tokens"] = 27
    answer = answered(reply, seen, include_signals=("verbalized", "critic", "p_true"), confidence_source="p_true")
    assert seen[0]["include_signals"] == ["verbalized", "critic", "p_true"]
    assert answer.signals == {
        "verbalized": Signal(0.93),
        "critic": Signal(None, "withheld with the answer"),
        "p_true": Signal(0.5, cost=SignalCost(**COST)),
    }
    assert answer.usage.signal_tokens == 27
    assert answer.to_dict() == reply
    assert isinstance(hash(answer), int)


def test_without_them_the_reply_is_as_before() -> None:
    reply = {name: value for name, value in VECTOR["reply"].items() if name != "signals"}
    assert answered(reply).signals is None
    assert answered(reply).to_dict() == reply


@pytest.mark.parametrize("signals", [[], 7, {"p_true": 0.5}, {"p_true": {"value": "high"}}, {"p_true": {"cost": []}}])
def test_what_is_no_signal_is_an_error_that_names_the_field(signals) -> None:
    with pytest.raises(ReplyError, match="signals"):
        answered(VECTOR["reply"] | {"signals": signals})


def test_how_last_lines_were_settled_is_read_and_given_back() -> None:
    reply = copy.deepcopy(VECTOR["reply"]) | {"settled": {"by": "continued", "after": "length"}}
    member = {"id": 0, "group": None, "confidence": None, "state": "missing"}
    sampled = {"drawn": 2, "aborted": 0, "tokens": 9, "tokens_saved": 0, "stopped_by": None, "groups": []}
    reply["samples"] = sampled | {"members": [member, member | {"id": 1, "settled": {"by": "asked", "after": "stop"}}]}
    answer = answered(reply)
    assert (answer.settled, answer.samples is None) == (Settlement("continued", "length"), False)
    assert answer.samples is not None
    assert [each.settled for each in answer.samples.members] == [None, Settlement("asked", "stop")]
    assert answer.to_dict() == reply
    assert answered(VECTOR["reply"]).settled is None
