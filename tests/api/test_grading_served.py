"""Votes over costly formulas beside votes over plain answers, through the real grader."""

import asyncio

import httpx
import pytest

from demur.api.app import create_app
from demur.engine.scripted import ScriptedEngine
from demur.grading import Grader
from demur.manifest import Manifest
from demur.settings import Settings

SAMPLES = 4
FLOOD = 6


def costly(i: int) -> str:
    """A formula that takes a good part of its time limit, of a value that no other has."""
    terms = ", ".join(rf"\sin(\cos(x^{{{n}}}+{i}))" for n in range(2, 14))
    return f"({terms})"


def script() -> ScriptedEngine:
    flood = {
        f"flood {i}.": [f"Answer: {costly(SAMPLES * i + k)}\nConfidence: 0.9" for k in range(SAMPLES)]
        for i in range(FLOOD)
    }
    victims = {"number.": "Answer: 4\nConfidence: 0.9", "words.": "Answer: the Eiffel Tower\nConfidence: 0.9"}
    return ScriptedEngine({**flood, **victims, "formula.": "Answer: \\frac{x}{7}+1\nConfidence: 0.9"})


async def ended(questions: list[str]) -> list[str]:
    """The questions in the order in which they were answered, all asked at once."""
    manifest = Manifest(name="demur-test", calibrated=True)
    with Grader() as grader:
        app = create_app(script(), manifest, Settings(max_running_samples=1000), grader=grader)
        order: list[str] = []
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://t", timeout=None) as client:

            async def ask(question: str) -> None:
                body = {"question": question, "samples": SAMPLES, "contract": "response"}
                reply = await client.post("/v1/answers", json=body)
                assert reply.status_code == 200, reply.text
                assert reply.json()["samples"]["drawn"] == SAMPLES
                order.append(question)

            await asyncio.gather(*map(ask, questions))
        return order


@pytest.mark.timeout(300)
def test_answers_without_formulas_do_not_wait_for_anybody_else_s() -> None:
    flood = [f"flood {i}." for i in range(FLOOD)]
    order = asyncio.run(ended([*flood, "number.", "words.", "formula."]))
    assert set(order[:2]) == {"number.", "words."}
    assert order.index("formula.") == 2
