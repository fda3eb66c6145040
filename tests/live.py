"""A real server around an ASGI app: streams and disconnects only exist on a socket."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from demur.serving.server import uvicorn_config
from demur.settings import Settings


class _Announcing(uvicorn.Server):
    """uvicorn that says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@contextmanager
def serving(app: Any, settings: Settings | None = None) -> Iterator[str]:
    """Run the app in a thread of its own, as the product does; gives its address. It has stopped when the context ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn_config(app, settings or Settings())
        config.timeout_graceful_shutdown = 5
        server = _Announcing(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            assert server.listening.wait(10)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(15)
            assert not thread.is_alive()


def free_port() -> int:
    """A port that nobody listens on at the moment, for programs that cannot pick one and tell it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
