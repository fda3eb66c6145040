"""Arguments for vLLM that this program passes on without knowing them."""

import json
from collections.abc import Sequence
from typing import Any


class BadEngineArgument(ValueError):
    """An argument that is no `key=value` and no `--option`."""


def parse_pairs(pairs: Sequence[str]) -> dict[str, Any]:
    """`["dtype=float32", "max_model_len=2048"]` by name. Values are JSON where they can be, else text."""
    named: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip("-"):
            raise BadEngineArgument(f"{pair!r}: write --engine-arg KEY=VALUE")
        named[_name(key)] = _value(value)
    return named


def parse_options(words: Sequence[str]) -> dict[str, Any]:
    """`["--max-model-len", "2048", "--enforce-eager", "--dtype=float32"]` by name.

    An option without a value is true; `--no-` before its name makes it false.
    """
    named: dict[str, Any] = {}
    rest = list(words)
    while rest:
        option, equals, value = rest.pop(0).partition("=")
        if not option.startswith("--") or not option.strip("-"):
            raise BadEngineArgument(f"{option!r}: after -- come options for vLLM, such as --max-model-len 2048")
        if equals:
            named[_name(option)] = _value(value)
        elif rest and not rest[0].startswith("--"):
            named[_name(option)] = _value(rest.pop(0))
        elif option.startswith("--no-"):
            named[_name(option.removeprefix("--no-"))] = False
        else:
            named[_name(option)] = True
    return named


def _name(option: str) -> str:
    return option.strip("-").replace("-", "_")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
