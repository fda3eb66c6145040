"""Files of keys for tests: adding, revoking, and what a server finds of them."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from demur.api_keys import ApiKeyStore, Key, KeyFile, make_key


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def add(file: Path, name: str = "someone") -> str:
    key, text = make_key(name)
    KeyFile(file).change(lambda keys: (*keys, key))
    return text


def revoke_all(file: Path) -> None:
    KeyFile(file).change(lambda keys: ())


def found(ring: ApiKeyStore, text: str) -> Key | None:
    asyncio.run(ring.refresh())
    key = ring.find(text)
    return key if key is not None and ring.trusts(key) else None


def ask(server: Any, text: str) -> httpx.Response:
    return server.call("GET", "/v1/models", headers={"authorization": f"Bearer {text}"})
