"""What every program asks, and how it tells what came back."""

from typing import Any

from pydantic import BaseModel, Field
from reporting import report

__all__ = ["ASK", "DOUBT", "PERSON", "TOOL_HISTORY", "Person", "report"]


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

    name: str = Field(max_length=40)
    born: int | None = Field(ge=0, le=2100)
