"""What every program asks, and how it tells what came back: one JSON object a line on standard output."""

import json
import sys
from typing import Any

from pydantic import BaseModel


def _user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


ASK = _user("How many legs has a spider?")
DOUBT = _user("How many legs has a millipede?")
PERSON = _user("Ada Lovelace was born in 1815.")
_CALL = {"id": "call_1", "type": "function", "function": {"name": "count_legs", "arguments": '{"of":"spider"}'}}
TOOL_HISTORY: list[dict[str, Any]] = [
    *ASK,
    {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "8"},
]


class Person(BaseModel):
    """Somebody."""

    name: str
    born: int | None


class _Report:
    """Called with a name and what was seen."""

    def __call__(self, name: str, *seen: Any) -> None:
        print(json.dumps([name, *seen]), flush=True)

    def url(self) -> str:
        """The server's, with /v1."""
        return sys.argv[1]


report = _Report()
