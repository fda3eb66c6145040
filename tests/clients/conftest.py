"""What the client's tests share: the wire vectors as parameters, and both clients behind one function."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from demur_client import Answer, AsyncClient, Client, RetryPolicy

VECTORS = Path(__file__).parents[1] / "vectors"
AT_ONCE = RetryPolicy(max_retries=2, first_pause=0.0)

Handler = Callable[[httpx.Request], httpx.Response]
Use = Callable[..., Any]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `sse_vector` runs once for each file in `vectors/sse`; so for every folder there."""
    for name in metafunc.fixturenames:
        if name.endswith("_vector"):
            files = sorted((VECTORS / name.removesuffix("_vector")).rglob("*.json"))
            metafunc.parametrize(name, [pytest.param(json.loads(file.read_text()), id=file.stem) for file in files])


@pytest.fixture(scope="session")
def reply() -> Callable[..., dict[str, Any]]:
    """The reply in a vector, with some fields changed."""

    def read(name: str = "response-answer", **changes: Any) -> dict[str, Any]:
        return json.loads((VECTORS / "replies" / f"{name}.json").read_text())["reply"] | changes

    return read


@pytest.fixture(params=["sync", "async"])
def use(request: pytest.FixtureRequest) -> Use:
    """use(handler, action, **client options): run an action on either client, its network played by `handler`.

    The action is called with the client and may return an awaitable.
    """

    def run(handler: Handler, action: Callable[[Any], Any], **options: Any) -> Any:
        settings = {"transport": httpx.MockTransport(handler), "retry": AT_ONCE} | options
        if request.param == "sync":
            with Client(**settings) as client:
                return action(client)
        return asyncio.run(_use_async(action, settings))

    return run


async def _use_async(action: Callable[[AsyncClient], Awaitable[Answer]], settings: dict[str, Any]) -> Any:
    async with AsyncClient(**settings) as client:
        return await action(client)
