"""Limits per minute: never more than the limit, whatever runs at once, and all that was not used comes back."""

import asyncio
import inspect
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.api.app import create_app
from demur.api_keys import KeyFile, make_key
from demur.api_keys.quota import MINUTE, Quota, Quotas
from demur.engine.base import EngineError
from demur.engine.scripted import Gate, Script, ScriptedEngine

ANSWER = "Two and two.\nAnswer: 4\nConfidence: 0.9"
PATHS = ["/v1/answers", "/v1/chat/completions"]


@dataclass
class Clock:
    """Seconds that pass when they are told to."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@given(
    st.integers(1, 100),
    st.lists(st.tuples(st.integers(0, 320), st.integers(1, 120), st.integers(0, 120)), max_size=40),
)
def test_no_minute_has_more_than_the_limit(limit: int, wants: list[tuple[float, int, int]]) -> None:
    """What is charged is at most what was held; whoever comes back after the pause it was told is let in."""
    quota, now, spent = Quota(), 0.0, list[tuple[float, int]]()
    for later, amount, used in wants:
        now += later / 8
        if pause := quota.wait(amount, limit, now):
            assert 0 < pause <= MINUTE
            now += math.ceil(pause)
            assert quota.wait(amount, limit, now) == 0
        held = min(amount, limit)
        quota.hold(held)
        quota.charge(held, min(used, held), now)
        spent.append((now, min(used, held)))
        assert sum(part for when, part in spent if when + MINUTE > now) <= limit
    assert quota.held == 0


def test_what_is_held_is_nobody_elses() -> None:
    quota = Quota()
    quota.hold(30)
    assert quota.wait(20, 50, 0) == 0
    assert quota.wait(21, 50, 0) == 1
    quota.charge(30, 10, 0)
    assert quota.wait(40, 50, 0) == 0
    assert quota.wait(41, 50, 5) == 55


def test_more_than_the_limit_runs_alone() -> None:
    quota = Quota()
    assert quota.wait(1000, 50, 0) == 0
    quota.hold(50)
    assert quota.wait(1, 50, 0) == 1
    quota.charge(50, 900, 7)
    assert quota.wait(1, 50, 8) == 59
    assert quota.wait(1000, 50, 67) == 0


def test_memory_stays_small_and_idle_keys_are_forgotten() -> None:
    quota, quotas = Quota(), Quotas()
    for i in range(100_000):
        quota.charge(0, 1, i / 1000)
    assert len(quota._spent) <= 61
    for i in range(1000):
        quotas.of(f"{i}", 0).charge(0, 1, 0)
    quotas.of("0", 61)
    assert len(quotas) == 1


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def add(file: Path, **limits: Any) -> dict[str, str]:
    key, text = make_key("someone", **limits)
    KeyFile(file).change(lambda keys: (*keys, key))
    return {"authorization": f"Bearer {text}"}


def body(path: str, **fields: Any) -> dict[str, Any]:
    asked = {"question": "q"} if path == PATHS[0] else {"messages": [{"role": "user", "content": "q"}]}
    return asked | fields


async def at_once(server: Any, times: int, path: str, shown: dict[str, str], **fields: Any) -> list[httpx.Response]:
    transport = httpx.ASGITransport(server.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://in-process", headers=shown) as client:
        return await asyncio.gather(*(client.post(path, json=body(path, **fields)) for _ in range(times)))


def tokens_in(replies: list[httpx.Response]) -> int:
    usages = [reply.json()["usage"] for reply in replies if reply.status_code == 200]
    return sum(usage["prompt_tokens"] + usage["completion_tokens"] for usage in usages)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("fields", [{"max_tokens": 20}, {"max_tokens": 20, "samples": 3}, {}])
def test_requests_at_once_stay_within_the_limit(make, file: Path, path: str, fields: dict[str, Any]) -> None:
    shown = add(file, tokens_per_minute=600)
    server = make(ScriptedEngine({"q": ANSWER}), keys_file=file, clock=Clock())
    replies = asyncio.run(at_once(server, 100, path, shown, **fields))
    assert {reply.status_code for reply in replies} == {200, 429}
    assert 0 < tokens_in(replies) <= 600
    refused = next(reply for reply in replies if reply.status_code == 429)
    assert "600 tokens a minute" in refused.json()["error"]["message"]


def test_several_choices_hold_for_each_of_them(make, file: Path) -> None:
    shown = add(file, tokens_per_minute=400)
    server = make(ScriptedEngine({"q": ANSWER}), keys_file=file, clock=Clock())
    replies = asyncio.run(at_once(server, 20, PATHS[1], shown, n=5, max_tokens=20))
    assert 0 < tokens_in(replies) <= 400


def test_a_prompt_that_is_longer_than_it_looked_is_refused_before_anything_is_generated(make, file: Path) -> None:
    """Words of one character are more tokens than four characters a token: the estimate fits, the prompt does not."""
    shown = add(file, tokens_per_minute=1000)
    server = make(ScriptedEngine({"x": ANSWER}), keys_file=file, clock=Clock())
    replies = asyncio.run(at_once(server, 10, PATHS[0], shown, question="x " * 400, max_tokens=20))
    assert 0 < tokens_in(replies) <= 1000
    assert len(server.engine.drawn) == sum(reply.status_code == 200 for reply in replies)


def test_the_pause_that_is_told_is_the_right_one(make, file: Path) -> None:
    shown = add(file, tokens_per_minute=50)
    clock = Clock()
    server = make(ScriptedEngine({"q": ANSWER}), keys_file=file, clock=clock)

    def ask() -> httpx.Response:
        return server.call("POST", PATHS[0], json=body(PATHS[0]), headers=shown)

    assert ask().status_code == 200
    clock.now += 12.5
    refused = ask()
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "48")
    clock.now += 47
    assert ask().headers["retry-after"] == "1"
    clock.now += 1
    assert ask().status_code == 200


def test_what_was_not_used_comes_back(make, file: Path) -> None:
    """Of 1,000 tokens each request may take some 900 and takes few: one after the other there is room for many."""
    shown = add(file, tokens_per_minute=1000)
    server = make(ScriptedEngine({"q": ANSWER}), keys_file=file, clock=Clock())
    call: Callable[[], httpx.Response] = lambda: server.call(  # noqa: E731
        "POST", PATHS[0], json=body(PATHS[0], max_tokens=300), headers=shown
    )
    assert [call().status_code for _ in range(5)] == [200] * 5


@pytest.mark.parametrize(
    ("engine", "fields", "status"),
    [
        (ScriptedEngine({"q": Script([ANSWER], error=EngineError("odd"))}), {}, 502),
        (ScriptedEngine({"q": ANSWER}, max_model_len=10), {}, 400),
        (ScriptedEngine({"q": Script([ANSWER], gates={0: Gate()})}), {"timeout": 0.05}, 504),
    ],
    ids=["failed", "refused", "late"],
)
def test_what_fails_gives_back_all_but_its_prompt(make, file: Path, engine: Any, fields: dict, status: int) -> None:
    shown = add(file, tokens_per_minute=500)
    server = make(engine, keys_file=file, clock=Clock())
    for _ in range(3):
        reply = server.call("POST", PATHS[0], json=body(PATHS[0], max_tokens=250, **fields), headers=shown)
        assert reply.status_code == status
    (quota,) = server.app.state.context.auth.rate_limits._tokens._of.values()
    assert quota.held == 0


def test_limits_go_by_a_clock_that_is_never_set_back() -> None:
    assert inspect.signature(create_app).parameters["clock"].default is time.monotonic
