"""Every fault at once, for minutes, beside callers that are honest: `python -m bench.soak.mixed` is the server.

Its engine is the script of the other scenarios for whoever asks for a nonce or for costly formulas, and a tiny model in
real vLLM for everybody else; that one is killed every two minutes. Nobody reads the log.
"""

import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.soak.engine_killed import engine_of
from bench.soak.grading import script as formulas
from bench.soak.health import asking_health
from bench.soak.hostile import BODIES, STRANGERS, with_key
from bench.soak.overload import ask_and_never_read
from bench.soak.result import Result, percentile
from bench.soak.server import ROOT, Memory, Served, script, serving
from bench.soak.wire import Reply, attempt, get, post, question

from demur.api.app import create_app
from demur.api_keys import Key, KeyFile, make_key
from demur.core.contracts import CONTRACTS
from demur.engine.base import Chunk, Engine, Message, Prompt, Sampling, TemplateArguments, Trace
from demur.engine.demo import unwrap
from demur.engine.scripted import Script, ScriptedEngine
from demur.grading import Grader
from demur.manifest import Manifest
from demur.observability.logs import configure_logging
from demur.serving.engine_loaders import ENGINES
from demur.serving.server import bind, serve_app
from demur.serving.standard_error import never_waited_for
from demur.settings import Settings

sys.path.insert(0, str(ROOT / "tests"))
from tiny_model import make_tiny_model

PATIENCE = 120.0
KILL_EVERY = 120.0
HONEST = 8
"""Callers that ask one question after the other."""
SCRIPTED = ("nonce=", "flood", "number")


class Mixed:
    """Implements `Engine`: a script for some questions, a model for the others."""

    def __init__(self, model: Engine) -> None:
        self._model = model
        self._script = ScriptedEngine(_script, max_model_len=1 << 20)

    @property
    def max_model_len(self) -> int | None:
        return self._model.max_model_len

    async def check(self) -> None:
        await self._model.check()

    async def close(self) -> None:
        await self._model.close()

    async def prepare(self, messages: Sequence[Message], template: TemplateArguments | None = None) -> Prompt:
        return await self._for(messages).prepare(messages, template)

    async def stream(
        self, prompt: Prompt, sampling: Sampling, *, request_id: str, trace: Trace | None = None
    ) -> AsyncGenerator[Chunk, None]:
        async for chunk in self._for(prompt.messages).stream(prompt, sampling, request_id=request_id, trace=trace):
            yield chunk

    def _for(self, messages: Sequence[Message]) -> Engine:
        return self._script if _asked(messages).startswith(SCRIPTED) else self._model


def _asked(messages: Sequence[Message]) -> str:
    return unwrap(messages[-1]["content"]).question.strip()


def _script(messages: Sequence[Message]) -> Script:
    return script(messages) if _asked(messages).startswith("nonce=") else formulas(messages)


class Callers:
    """Everybody who asks, each with a key of their own; what came of it."""

    def __init__(self, served: Served, file: Path, end: float) -> None:
        self.served, self.end = served, end
        self.honest, self.seeded, self.victims = list[Reply](), list[Reply](), list[Reply]()
        self.wrong, self.sent = 0, Counter[str]()
        self.keys = Counter[tuple[int, int]]()
        """Statuses of a request with a key that was just made, and with the same key once revoked."""
        self._file = KeyFile(file)

    def key(self, name: str, **limits: int) -> tuple[Key, str]:
        key, text = make_key(name, **limits)
        self._file.change(lambda keys: (*keys, key))
        return key, text

    async def until_the_end(self, turn: Callable[[int], Awaitable[None]], pause: float = 0.0) -> None:
        number = 0
        while time.perf_counter() < self.end:
            await turn(number)
            number += 1
            await asyncio.sleep(pause)

    async def ask(self, who: int, key: str) -> None:
        """Streams and whole replies in turn; each has to carry its own nonce."""

        async def turn(number: int) -> None:
            nonce = f"h{who}-{number}"
            asked = {"question": question(nonce, words=10, delay=0.05), "risk_threshold": 0.0, "contract": "response"}
            reply = await attempt(self.served.port, post(asked | {"stream": number % 2 == 0}, key), PATIENCE)
            self.honest.append(reply)
            self.wrong += reply.answer not in (nonce, None)

        await self.until_the_end(turn)

    async def vote(self, key: str) -> None:
        """Votes over a plain number, beside votes over sines."""

        async def turn(number: int) -> None:
            body = {"question": f"number {number}", "samples": 4, "contract": "response"}
            self.victims.append(await attempt(self.served.port, post(body, key), PATIENCE))

        await self.until_the_end(turn, 1.0)

    async def seed(self, key: str) -> None:
        """What ended vLLM on a CPU once."""

        async def turn(number: int) -> None:
            body = {"question": f"What is {number}?", "max_tokens": 64, "risk_threshold": 0.0, "timeout": PATIENCE}
            many = [post(body | {"samples": 60, "seed": number}, key)]
            many += [post(body | {"seed": number + i}, key) for i in range(32)]
            self.seeded += await asyncio.gather(*(attempt(self.served.port, one, PATIENCE) for one in many))

        await self.until_the_end(turn, 10.0)

    async def flood(self, key: str, body: Callable[[int], dict[str, Any]]) -> None:
        async def turn(number: int) -> None:
            reply = await attempt(self.served.port, post(body(number), key), PATIENCE)
            await asyncio.sleep(0.0 if reply.status == 200 else 0.2)

        await self.until_the_end(turn)

    async def harm(self, rng: random.Random, key: str) -> None:
        """Hostile heads and bodies, one after the other."""
        requests = {**STRANGERS} | {name: with_key(body, key) for name, body in BODIES.items()}
        names = sorted(requests)

        async def turn(number: int) -> None:
            name = rng.choice(names)
            self.sent[name] += 1
            await attempt(self.served.port, requests[name], PATIENCE)

        await self.until_the_end(turn, 0.2)

    async def revoke(self) -> None:
        """Make a key, use it, revoke it, use it again."""

        async def turn(number: int) -> None:
            key, text = self.key(f"short-{number}")
            models = get("/v1/models").replace(b"connection", f"authorization: Bearer {text}\r\nconnection".encode())
            opened = await attempt(self.served.port, models, PATIENCE)
            self._file.change(lambda keys: tuple(kept for kept in keys if kept.id != key.id))
            refused = await attempt(self.served.port, models, PATIENCE)
            self.keys[opened.status, refused.status] += 1

        await self.until_the_end(turn, 2.0)

    async def kill(self) -> int:
        killed = 0
        while time.perf_counter() + KILL_EVERY < self.end:
            await asyncio.sleep(KILL_EVERY)
            engine_of(self.served).send_signal(signal.SIGKILL)
            killed += 1
        return killed


def mixed(seconds: float, size: int) -> Result:
    """`size` hostile clients and as many that flood, for so many seconds."""
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    reads, writes = os.pipe()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder) / "keys.json"
        KeyFile(file).change(lambda keys: (make_key("first")[0],))
        model = make_tiny_model(Path(folder) / "tiny")
        room = {"max_queued_samples": 512, "receive_timeout": 5, "engine_restarts": 100, "max_running_tokens": 1 << 30}
        room |= {"model": model, "force_contract": "never", "keys_file": file, "timeout": PATIENCE}
        try:
            with serving(("-m", "bench.soak.mixed"), log_to=writes, **room) as served:
                for i in range(size):
                    ask_and_never_read(stack, served.port, i, _slow_key(file))
                return asyncio.run(_mixed(served, file, seconds, size))
        finally:
            os.close(writes)
            os.close(reads)


def _slow_key(file: Path) -> str:
    key, text = make_key("slow")
    KeyFile(file).change(lambda keys: (*keys, key))
    return text


async def _mixed(served: Served, file: Path, seconds: float, size: int) -> Result:
    callers, memory = Callers(served, file, time.perf_counter() + seconds), Memory()
    watching = asyncio.create_task(memory.watch(served, 1.0))
    killing = asyncio.create_task(callers.kill())
    hostile, loud, costly = (callers.key(name)[1] for name in ("hostile", "loud", "costly"))
    few = callers.key("few", tokens_per_minute=5000)[1]
    with asking_health(served.port) as health:
        await asyncio.gather(
            *(callers.ask(i, callers.key(f"honest-{i}")[1]) for i in range(HONEST)),
            *(callers.flood(loud, _long) for _ in range(size)),
            *(callers.flood(few, _long) for _ in range(size)),
            *(callers.flood(costly, _sines) for _ in range(size)),
            *(callers.harm(random.Random(i), hostile) for i in range(size)),
            callers.vote(callers.key("votes")[1]),
            callers.seed(callers.key("seeds")[1]),
            callers.revoke(),
        )
    killed = await killing
    watching.cancel()
    third = len(memory.seen) // 3
    early, late = (sorted(part)[len(part) // 2] for part in (memory.seen[third : 2 * third], memory.seen[-third:]))
    right = sum(reply.answer is not None for reply in callers.honest)
    answered = sum(reply.status == 200 and reply.error is None for reply in callers.seeded)
    votes = [reply.seconds for reply in callers.victims]
    return Result(
        f"everything at once, {seconds:g} s",
        {
            "honest callers: answered": f"{right} of {len(callers.honest)}",
            "seconds for 0.5: p50, p95, max": _spread([reply.seconds for reply in callers.honest]),
            "votes over a number beside votes over sines, s: p50, p95, max": _spread(votes),
            "seeded requests: answered": f"{answered} of {len(callers.seeded)}; the engine was killed {killed} times",
            "hostile heads and bodies": f"{callers.sent.total()}",
            "keys made and revoked": ", ".join(f"{n} × {a} then {b}" for (a, b), n in callers.keys.most_common()),
            "memory, MiB: second third, last third": f"{early:.0f}, {late:.0f}",
            "/health, s: p50, p99, max": health.text,
        },
        {
            "no honest answer is lost": right == len(callers.honest) > 0,
            "none is another's": callers.wrong == 0,
            "votes are all answered": all(reply.status == 200 for reply in callers.victims),
            "seeded requests get an answer or a typed error": all(reply.is_typed for reply in callers.seeded),
            "the engine works in the end": answered > 0 and callers.seeded[-1].status == 200,
            "a new key opens at once, a revoked one nothing": set(callers.keys) == {(200, 401)},
            "memory is flat (5 %)": late <= 1.05 * early,
            "/health is never silent for 250 ms": health.is_never_silent,
        },
    )


def _long(number: int) -> dict[str, Any]:
    return {"question": question(f"f{number}", words=20, delay=0.05)}


def _sines(number: int) -> dict[str, Any]:
    return {"question": f"flood {number}", "samples": 4, "contract": "response", "timeout": 30}


def _spread(seconds: Sequence[float]) -> str:
    return ", ".join(f"{percentile(seconds, share):.2f}" for share in (0.5, 0.95, 1.0))


async def _serve() -> int:
    settings = Settings(port=0)
    arguments = {"max_model_len": 2048, "max_num_seqs": 64, "enforce_eager": True}
    model = (await ENGINES["vllm"].load(settings, arguments)).engine
    manifest = Manifest(name="demur-soak", contracts=tuple(CONTRACTS))
    with Grader() as grader, bind(settings.host, settings.port) as listener:
        port = listener.getsockname()[1]
        app = create_app(Mixed(model), manifest, settings, grader=grader)
        try:
            return await serve_app(app, settings, listener, lambda: print(f"listening on :{port}", flush=True))
        finally:
            await model.close()


def main() -> int:
    log = configure_logging("json", "info")
    try:
        with never_waited_for(log):
            return asyncio.run(_serve())
    finally:
        log.flush()


if __name__ == "__main__":
    sys.exit(main())
