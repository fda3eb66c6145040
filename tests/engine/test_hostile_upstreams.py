"""No upstream, however broken or hostile, keeps a caller from the answer of a host beside it."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from demur.engine import balancing
from demur.engine.base import Chunk, EngineError, EngineOverloaded, RequestRefused, Sampling
from demur.engine.openai import OpenAIEngine
from demur.engine.upstreams import Upstream, find_served
from hostile_host import EVENTS, STATUSES, WIRE, HostileHost, Reply, endless, hostile, replies, status

SAMPLING = Sampling(max_tokens=16)
IN_FLIGHT = 8 << 20
"""Bytes that may lie in the buffers of two sockets and the limits of one reply."""
SILENT = ("silence", "silence after the head", "silence in the head", "comments now and then", "a byte now and then")
LATER = [f"{name}, later" for name in EVENTS if name != "done at once"]


@pytest.fixture(autouse=True)
def rests_outlast_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second's rest is over where the machine stands still for so long, and the host is asked once more."""
    monkeypatch.setattr(balancing, "FIRST_REST", balancing.LONGEST_REST)


@pytest.fixture
def host() -> HostileHost:
    return HostileHost()


@pytest.fixture
def address(host: HostileHost) -> Iterator[str]:
    with hostile(host) as where:
        yield where


def engine(address: str, *kinds: str, **options: float) -> OpenAIEngine:
    return OpenAIEngine([Upstream(f"{address}/{kind}/v1") for kind in kinds], "m", **options)


async def sample(engine: OpenAIEngine) -> list[Chunk]:
    prompt = await engine.prepare([{"role": "user", "content": "6 * 7?"}])
    async with aclosing(engine.stream(prompt, SAMPLING, request_id="r-1")) as chunks:
        return [chunk async for chunk in chunks]


def text(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


def rests(engine: OpenAIEngine) -> list[bool]:
    return [state.is_unhealthy for state in engine.upstreams()]


def ask(address: str, *kinds: str, times: int = 1, **options: float) -> tuple[list[Chunk], list[bool]]:
    """The last of so many samples, and which hosts rest afterwards."""

    async def run() -> tuple[list[Chunk], list[bool]]:
        the_engine = engine(address, *kinds, **options)
        try:
            for _ in range(times):
                chunks = await sample(the_engine)
            return chunks, rests(the_engine)
        finally:
            await the_engine.close()

    return asyncio.run(run())


@pytest.mark.parametrize("kind", [*STATUSES, *WIRE, *(name for name in EVENTS)])
def test_what_one_host_does_wrong_another_answers(address, host, kind):
    chunks, resting = ask(address, kind, "good", times=4)
    assert text(chunks) == "Answer: 4\nConfidence: 0.9"
    assert resting == [True, False]
    assert host.calls == {kind: 1, "good": 4}
    assert host.sent[kind] < IN_FLIGHT


@pytest.mark.parametrize("kind", LATER)
def test_what_a_host_does_wrong_after_text_is_its_failure(address, host, kind):
    async def run() -> list[bool]:
        the_engine = engine(address, kind, "good")
        with pytest.raises(EngineError, match="broke off"):
            await sample(the_engine)
        await sample(the_engine)
        await the_engine.close()
        return rests(the_engine)

    assert asyncio.run(run()) == [True, False]
    assert host.sent[kind] < IN_FLIGHT


@pytest.mark.parametrize("kind", ["text without end", "one text without end"])
def test_text_past_max_tokens_is_cut_and_the_connection_closed(address, host, kind):
    chunks, resting = ask(address, kind, "good")
    assert len(text(chunks)) == 128 * SAMPLING.max_tokens
    assert chunks[-1].finish_reason == "length"
    assert resting == [True, False]
    assert host.sent[kind] < IN_FLIGHT


def test_a_reply_in_tiny_chunks_is_charged_for_them(address, host):
    chunks, _ = ask(address, "tiny chunks", "good")
    assert text(chunks) == "Answer: 4\nConfidence: 0.9"
    assert host.sent["tiny chunks"] < IN_FLIGHT


@pytest.mark.parametrize("kind", [*SILENT, "early hints without end"])
def test_a_host_that_says_nothing_is_left_for_another(address, kind):
    chunks, resting = ask(address, kind, "good", first_text_timeout=0.3)
    assert text(chunks) == "Answer: 4\nConfidence: 0.9"
    assert resting == [True, False]


@pytest.mark.parametrize("kind", SILENT)
def test_a_host_alone_is_waited_for_as_long_as_a_sample_may_be_silent(address, kind):
    with pytest.raises(EngineError, match="no answer"):
        ask(address, kind, attempts=1, read_timeout=0.3)


@pytest.mark.parametrize("kind", ["silence after text", "comments after text"])
def test_silence_after_text_is_a_failure(address, kind):
    with pytest.raises(EngineError, match="broke off"):
        ask(address, kind, "good", read_timeout=0.3)


def test_a_stream_that_stays_open_after_its_end_ends(address):
    chunks, resting = ask(address, "open after all")
    assert (text(chunks), chunks[-1].completion_tokens, resting) == ("Answer: 4\nConfidence: 0.9", 7, [False])


@pytest.mark.parametrize("kind", ["early hints without end", "roles without end", "tiny chunks"])
def test_others_go_on_while_a_host_floods(address, kind):
    """Turns of the event loop that another task gets meanwhile."""

    async def run() -> int:
        the_engine, turns = engine(address, kind, attempts=1, read_timeout=1.0), 0
        failing = asyncio.ensure_future(sample(the_engine))
        while not failing.done():
            await asyncio.sleep(0)
            turns += 1
        with pytest.raises(EngineError):
            await failing
        await the_engine.close()
        return turns

    assert asyncio.run(run()) > 20


def test_nobody_is_led_elsewhere(address, host):
    for kind in [name for name in STATUSES if name.startswith("redirect")]:
        with pytest.raises(EngineError):
            ask(address, kind)
    assert host.calls["trap"] == 0


def test_a_caller_who_gives_up_is_not_a_failure_of_the_host(address):
    async def run() -> list[bool]:
        the_engine = engine(address, "silence", "good")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await sample(the_engine)
        await the_engine.close()
        return rests(the_engine)

    assert asyncio.run(run()) == [False, False]


def test_a_request_that_two_hosts_refuse_is_refused(address, host):
    with pytest.raises(RequestRefused):
        ask(address, "refuses", "refuses", "good")
    assert host.calls == {"refuses": 2}


def test_a_host_that_refuses_what_others_take_rests(address, host):
    chunks, resting = ask(address, "refuses", "good", times=12)
    assert text(chunks) == "Answer: 4\nConfidence: 0.9"
    assert resting == [True, False]
    assert host.calls == {"refuses": 3, "good": 12}


def test_a_refusal_is_not_asked_again_where_no_other_host_is_well(address, host):
    with pytest.raises(RequestRefused):
        ask(address, "refuses")
    assert host.calls == {"refuses": 1}


def test_every_host_is_tried_before_a_sample_fails(address, host):
    broken = ["401", "404", "nothing", "choices 5", "a list"]
    chunks, resting = ask(address, *broken, "good")
    assert text(chunks) == "Answer: 4\nConfidence: 0.9"
    assert resting == [True] * 5 + [False]


def test_overload_is_told_before_other_failures(address):
    with pytest.raises(EngineOverloaded) as caught:
        ask(address, "429", "401")
    assert caught.value.retry_after == 7


@pytest.mark.parametrize("value", ["inf", "nan", "-1", "1e400", "Wed, 21 Oct 2099 07:28:00 GMT", "9" * 5000, "soon"])
def test_a_pause_that_cannot_be_is_not_kept(address, host, value):
    host.chat["odd"] = status(429, head=f"retry-after: {value}\r\n")
    with pytest.raises(EngineOverloaded) as caught:
        ask(address, "odd", attempts=1)
    assert caught.value.retry_after is None


def test_the_watch_declares_no_host_well(address, host):
    async def run() -> list[list[bool]]:
        the_engine = engine(address, "401", "good")
        await sample(the_engine)
        seen = [rests(the_engine)]
        for _ in range(3):
            await the_engine.check()
            seen.append(rests(the_engine))
        await the_engine.close()
        return seen

    assert asyncio.run(run()) == [[True, False]] * 4


def test_a_host_is_tried_by_one_sample_at_a_time_until_one_comes_to_its_end(address, host):
    """The watch saw it down and up again, so it need not rest any longer."""

    async def run() -> list[object]:
        the_engine = engine(address, "mended", "good")
        host.models["mended"] = status(500)
        await the_engine.check()
        del host.models["mended"]
        await the_engine.check()
        host.chat["mended"] = replies()["silence after text"]
        prompt = await the_engine.prepare([{"role": "user", "content": "x"}])
        async with aclosing(the_engine.stream(prompt, SAMPLING, request_id="r")) as chunks:
            await anext(chunks)
            await sample(the_engine)
            await sample(the_engine)
            seen: list[object] = [dict(host.calls), rests(the_engine)]
        host.chat["mended"] = replies()["good"]
        await sample(the_engine)
        await the_engine.close()
        return [*seen, dict(host.calls), rests(the_engine)]

    assert asyncio.run(run()) == [
        {"mended": 1, "good": 2},
        [True, False],
        {"mended": 2, "good": 2},
        [False, False],
    ]


LISTS: dict[str, Reply] = {
    "no json": status(200, b"{"),
    "a list": status(200, b"[]"),
    "no cards": status(200, b'{"data": [5]}'),
    "nested": status(200, b"[" * 100_000),
    "redirected": status(307, b"", "location: /good/v1/models\r\n"),
    "without end": endless(b"HTTP/1.1 200 OK\r\n\r\n", b'{"data": ['),
    "too many": status(200, b'{"data": [' + b'{"id": "m"},' * 50_000 + b'{"id": "m"}]}'),
    "too many that are none": status(200, b'{"data": [' + b"5," * 100_000 + b"5]}"),
    "a bomb": status(200, b"x", "content-encoding: gzip\r\n"),
    "a name with escapes": status(200, b'{"data": [{"id": "\\u001b[2J"}]}'),
    "half a character": status(200, b'{"data": [{"id": "\\ud800"}]}'),
    "a long name": status(200, b'{"data": [{"id": "' + b"m" * 1000 + b'"}]}'),
    "no http": b"\x00\x01\r\n\r\n",
    **{
        f"{length.decode()[:10]} long": status(200, b'{"data": [{"id": "m", "max_model_len": ' + length + b"}]}")
        for length in (b"-1", b"0", b"1e30", b"9" * 30, b"true", b"NaN", b'"4096"', b"[]")
    },
}


@pytest.mark.parametrize("kind", LISTS)
def test_a_list_of_models_that_cannot_be_is_no_answer(address, host, kind):
    host.models[kind] = LISTS[kind]
    where = [Upstream(f"{address}/{kind}/v1")]
    with pytest.raises(EngineError, match="no upstream answers"):
        asyncio.run(find_served(where, "m"))
    assert asyncio.run(find_served([*where, Upstream(f"{address}/good/v1")], "m")).max_model_len == 4096
    assert host.sent[kind] < 2 * IN_FLIGHT


def test_names_are_quoted_only_so_far(address, host):
    many = b",".join(b'{"id": "model-%d"}' % i for i in range(5000))
    host.models["many"] = status(200, b'{"data": [' + many + b"]}")
    with pytest.raises(EngineError, match="and 4990 more: name one") as caught:
        asyncio.run(find_served([Upstream(f"{address}/many/v1")], None))
    assert len(str(caught.value)) < 500


def test_what_a_host_says_is_quoted_on_one_line(address, host):
    host.chat["loud"] = status(400, b'{"error": {"message": "\\u001b[2J\\n\\u202e' + b"x" * 10_000 + b'"}}')
    with pytest.raises(RequestRefused) as caught:
        ask(address, "loud")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("key", ["a\nb", "schlüssel", "\x00"])
def test_a_key_that_no_header_holds_is_said_at_the_start(key):
    with pytest.raises(EngineError, match=r"the key for .* holds"):
        OpenAIEngine([Upstream("http://127.0.0.1:9/v1", key)], "m")


def test_a_prompt_that_is_no_unicode_is_no_failure_of_a_host(address):
    async def run() -> tuple[str, list[bool]]:
        the_engine = engine(address, "good")
        prompt = await the_engine.prepare([{"role": "user", "content": "\ud800"}])
        trace = {"tracestate": "k=\xe9\n"}
        async with aclosing(the_engine.stream(prompt, SAMPLING, request_id="r", trace=trace)) as chunks:
            found = text([chunk async for chunk in chunks])
        await the_engine.close()
        return found, rests(the_engine)

    assert asyncio.run(run()) == ("Answer: 4\nConfidence: 0.9", [False])


@pytest.mark.parametrize("count", [-1, 10**12, True, 7.0, float("nan"), "7"])
def test_no_engine_counts_what_cannot_be(count):
    with pytest.raises(EngineError, match="counts"):
        Chunk("", completion_tokens=count)
    with pytest.raises(EngineError, match="counts"):
        Chunk("", prompt_tokens=count)
