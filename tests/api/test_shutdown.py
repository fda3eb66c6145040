"""A server that is told to stop finishes what it can and tells the rest."""

import asyncio
import gc
import json
import os
import signal

import httpx

from demur.api.app import create_app
from demur.engine.scripted import Gate, Script, ScriptedEngine
from demur.manifest import Manifest
from demur.serving.server import bind, serve_app
from demur.settings import Settings

RESPONSE = "Two and two.\nAnswer: 4\nConfidence: 0.9"


def test_the_collector_walks_nothing_that_was_loaded_before_serving() -> None:
    """A full collection over a loaded engine holds the event loop for a third of a second."""
    settings = Settings(port=0)
    app = create_app(ScriptedEngine({}), Manifest(name="demur-test", calibrated=True), settings)

    async def walked_while_serving() -> int:
        ready = asyncio.Event()
        with bind(settings.host, settings.port) as listener:
            serving = asyncio.create_task(serve_app(app, settings, listener, ready.set))
            await asyncio.wait_for(ready.wait(), 20)
            walked = len(gc.get_objects())
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(serving, 20)
            return walked

    loaded = len(gc.get_objects())
    assert asyncio.run(walked_while_serving()) < loaded / 10
    assert len(gc.get_objects()) > loaded / 2


def test_sigterm_finishes_what_it_can_and_tells_the_rest() -> None:
    never, soon = Gate(), Gate()
    scripts = {"slow": Script([RESPONSE], gates={2: never}), "quick": Script([RESPONSE], gates={2: soon})}
    engine = ScriptedEngine(scripts)
    settings = Settings(port=0, max_running_samples=3, shutdown_timeout=1)
    app = create_app(engine, Manifest(name="demur-test", calibrated=True), settings)
    admission = app.state.context.admission

    async def scene() -> dict[str, httpx.Response]:
        ready = asyncio.Event()
        with bind(settings.host, settings.port) as listener:
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            serving = asyncio.create_task(serve_app(app, settings, listener, ready.set))
            await asyncio.wait_for(ready.wait(), 20)
            async with httpx.AsyncClient(timeout=20) as client:

                def ask(question: str, **fields: object) -> asyncio.Task[httpx.Response]:
                    return asyncio.create_task(
                        client.post(f"{address}/v1/answers", json={"question": question, **fields})
                    )

                asking = {"slow": ask("slow"), "stream": ask("slow", stream=True), "quick": ask("quick")}
                while admission.running.samples < 3:
                    await client.get(f"{address}/health")
                asking |= {"waits": ask("quick"), "waits to stream": ask("quick", stream=True)}
                while admission.waiting_requests < 2:
                    await client.get(f"{address}/health")
                await asyncio.to_thread(never.wait_reached)
                os.kill(os.getpid(), signal.SIGTERM)
                told = await asyncio.wait_for(asyncio.gather(asking["waits"], asking["waits to stream"]), 20)
                assert not asking["slow"].done()
                soon.open()
                replies = dict(zip(asking, await asyncio.gather(*asking.values()), strict=True))
            assert await asyncio.wait_for(serving, 20) == 0
            assert [reply.status_code for reply in told] == [503, 503]
            return replies

    replies = asyncio.run(scene())
    assert replies["quick"].json()["answer"] == "4"
    for name in ("slow", "waits", "waits to stream"):
        assert replies[name].status_code == 503
        assert replies[name].json()["error"]["type"] == "unavailable"
        assert replies[name].headers["retry-after"] == "1"
    name, data = replies["stream"].text.rstrip().split("\n\n")[-1].split("\n")
    assert name == "event: error"
    assert json.loads(data.removeprefix("data: "))["type"] == "unavailable"
    assert (engine.running, len(engine.cancelled)) == (0, 2)
