"""The real client, the README's first example and `demur ask` against the real server process."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from demur_client import AnswerEvent, ClaimEvent, Client, ConnectionFailedError, InvalidRequestError, RetryPolicy

README = Path(__file__).parents[2] / "clients" / "python" / "README.md"
SURE = "Pens come in packs of 3 for 2 euros. What do 12 pens cost?"
UNSURE = "How many moons does Saturn have?"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of `demur serve` with the scripted demo, as the process itself prints it."""
    command = [sys.executable, "-m", "demur", "serve", "--engine", "scripted", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            ready = process.stdout.readline()
            address = re.search(r"http://\S+", ready)
            assert address, ready
            yield address[0]
        finally:
            process.terminate()
            status = process.wait(15)
    assert status == 0


@pytest.fixture
def client(server: str) -> Iterator[Client]:
    with Client(base_url=server) as client:
        yield client


def run(server: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Another Python process that finds the server through the environment."""
    environ = os.environ | {"DEMUR_BASE_URL": server}
    return subprocess.run([sys.executable, *arguments], env=environ, capture_output=True, text=True, timeout=60)


def test_an_answer_and_an_abstention(client: Client) -> None:
    given = client.answer(SURE, contract="response", risk_threshold=0.8)
    assert (given.answer, given.calibrated) == ("8 euros", False)
    abstained = client.answer(UNSURE, contract="response", risk_threshold=0.8, include_withheld=True)
    assert abstained.reason == "below_threshold"
    assert abstained.at(0.1).answer == "146"


def test_a_stream(client: Client) -> None:
    with client.stream(SURE, contract="claims", risk_threshold=0.8) as stream:
        events = list(stream)
    assert sum(isinstance(event, ClaimEvent) for event in events) == 2
    assert isinstance(events[-1], AnswerEvent)


def test_a_mistake(client: Client) -> None:
    with pytest.raises(InvalidRequestError) as raised:
        client.answer(SURE, risk_threshold=80)
    assert raised.value.param == "risk_threshold"


def test_the_first_example_of_the_readme_runs(server: str) -> None:
    found = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert found
    result = run(server, "-W", "error", "-c", found[1])
    assert (result.returncode, result.stderr) == (0, "")
    assert "8 euros" in result.stdout


def test_demur_ask(server: str, tmp_path: Path) -> None:
    given = run(server, "-m", "demur", "ask", SURE, "-t", "0.8")
    assert (given.returncode, given.stderr) == (0, "")
    assert "Answer: 8 euros" in given.stdout
    abstained = run(server, "-m", "demur", "ask", UNSURE, "-t", "0.8", "--contract", "response")
    assert abstained.returncode == 3
    assert abstained.stdout.startswith("No answer: the model is 30% sure, and 80% was asked for.")


def test_nobody_listens() -> None:
    with (
        Client(base_url="http://127.0.0.1:1", retry=RetryPolicy(max_retries=1, first_pause=0.0)) as client,
        pytest.raises(ConnectionFailedError, match="cannot reach"),
    ):
        client.answer(SURE)
