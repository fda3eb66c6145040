"""Four clients against the model that ships, on real vLLM: what they see has the right form, whatever it says."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from client_programs import NODE, Programs

pytestmark = [pytest.mark.ecosystem, pytest.mark.more_clients, pytest.mark.timeout(900)]
CLIENTS = [("", "openai_python"), ("", "langchain_demur"), ("", "litellm_sdk"), (NODE, "openai")]
SAID = {"answer", "abstention", "stream", "history", "responses"}
JSON = {"structured", "structured_stream", "tool"}


@pytest.fixture(scope="module")
def programs(embedded_model: Path) -> Iterator[Programs]:
    command = [sys.executable, "-m", "demur", "serve", "--model", str(embedded_model), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://[\w.:]+", line)
            assert found, line
            served = httpx.get(f"{found[0]}/v1/models", trust_env=False).json()["data"][0]["id"]
            yield Programs(f"{found[0]}/v1", served)
        finally:
            process.terminate()
            process.wait(60)


@pytest.mark.parametrize(("environment", "program"), CLIENTS)
def test_every_kind_of_reply_comes_through(programs: Programs, environment: str, program: str) -> None:
    seen = programs(program, environment)
    assert {"answer", "abstention", "stream", "structured"} <= seen.keys()
    for name, (value, *confidences) in seen.items():
        if name in SAID:
            assert isinstance(value, str)
            assert value
        if name in JSON:
            assert value.keys() == {"name", "born"}
        if name in SAID | JSON:
            assert all(is_confidence(each) for one in confidences for each in (one if isinstance(one, list) else [one]))


def is_confidence(value: Any) -> bool:
    return value is None or 0 <= value <= 1
