"""A small host for the evaluation to ask: both APIs, a judge, and every way of misbehaving on demand."""

import asyncio
import json
import re
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from typer.testing import CliRunner

from demur.cli import main
from demur.core.parsing import read_probability
from live import serving

QUESTION = re.compile(r"What is (\d+) plus (\d+)\?")


class Host:
    """Answers sums. `troubles[question]` is a queue of misbehaviours; `asked` counts requests by question and sample.

    Question k is answered rightly unless k % 3 == 0, with confidence (k % 10) / 10, or by `answer` where it is set.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.troubles: dict[str, deque[str]] = {}
        self.always: str | None = None
        self.answer: Callable[[int, dict[str, Any]], str] = self.plain
        self.verdict: Callable[[dict[str, Any], int], str] = self.judged
        self.judgements = 0
        self.judge_lasts: int | None = None
        self.served: dict[str, Any] | None = {"recipe": "r1", "fingerprint": "f1", "prompts": {"response": "p1"}}
        self.shows_withheld = True
        self._stopped = threading.Event()
        self._waited_for: dict[str, threading.Event] = {}

    def stop(self) -> None:
        """Let go of whoever hangs."""
        self._stopped.set()

    def reach(self, question: str) -> threading.Event:
        """Is set when this question is asked."""
        return self._waited_for.setdefault(question, threading.Event())

    @staticmethod
    def plain(k: int, body: dict[str, Any]) -> str:
        answer = 2 * k if k % 3 else 2 * k + 1
        return f"Adding gives <b>{answer}</b>.\nAnswer: {answer}\nConfidence: {(k % 10) / 10}"

    @staticmethod
    def judged(told: dict[str, Any], count: int) -> str:
        if "candidate" in told:
            return "CORRECT" if told["candidate"] == told["reference"] else "INCORRECT"
        steps = [{"step": step["step"], "why": "", "correct": "wrong" not in step["text"]} for step in told["steps"]]
        return json.dumps({"steps": steps})

    def app(self) -> Starlette:
        routes = [
            Route("/v1/chat/completions", self.chat, methods=["POST"]),
            Route("/v1/answers", self.answers, methods=["POST"]),
            Route("/v1/models", self.models),
        ]
        return Starlette(routes=routes)

    async def chat(self, request: Request) -> Response:
        body = await request.json()
        if body["model"] == "judge":
            self.judgements += 1
            if self.judge_lasts is not None and self.judgements > self.judge_lasts:
                return await self.misbehave("500")
            return JSONResponse(completion(self.verdict(json.loads(body["messages"][-1]["content"]), self.judgements)))
        return await self.reply(request, body, body["messages"][-1]["content"], completion)

    async def models(self, request: Request) -> Response:
        if self.served is None:
            return JSONResponse({"error": {"message": "not found"}}, 404)
        return JSONResponse({"object": "list", "data": [{"id": "demur-test", "demur": self.served}]})

    async def answers(self, request: Request) -> Response:
        body = await request.json()
        if body.get("include_withheld") and not self.shows_withheld:
            refusal = {"type": "permission", "message": "no withheld text", "param": "include_withheld"}
            return JSONResponse({"error": refusal}, 403)
        return await self.reply(request, body, body["question"], lambda text: answer_object(text, body))

    async def reply(
        self, request: Request, body: dict[str, Any], prompt: str, shape: Callable[[str], dict[str, Any]]
    ) -> Response:
        found = QUESTION.search(prompt)
        assert found is not None
        question = found.group(1)
        self.asked[question] += 1
        self.reach(question).set()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        queue = self.troubles.get(question)
        trouble = self.always or (queue.popleft() if queue else None)
        if trouble is not None:
            return await self.misbehave(trouble)
        return JSONResponse(shape(self.answer(int(question), body)))

    async def misbehave(self, trouble: str) -> Response:
        if trouble.isdigit():
            headers = {"retry-after": "0"} if trouble == "429" else {}
            return JSONResponse({"error": {"message": f"trouble {trouble}"}}, int(trouble), headers)
        if trouble == "garbage":
            return Response("<html>proxy</html>", media_type="text/html")
        if trouble == "empty":
            return JSONResponse({})
        if trouble == "half":
            return StreamingResponse(half_a_reply(), media_type="application/json")
        assert trouble == "hang"
        await asyncio.to_thread(self._stopped.wait, 60)
        return Response()


async def half_a_reply() -> AsyncIterator[bytes]:
    yield b'{"choices": [{"message": {"content": "half'
    raise ConnectionAbortedError


def completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 7, "completion_tokens": len(text.split())}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def answer_object(text: str, body: dict[str, Any]) -> dict[str, Any]:
    """What a demur server replies at t = 0, for the response contract."""
    lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    answer, confidence = lines.get("Answer"), read_probability(lines.get("Confidence", "")).value
    prose = text.splitlines()[0]
    shown = answer is not None or body.get("include_withheld", False)
    return {
        "id": "ans_1",
        "object": "answer",
        "model": "demur-test",
        "contract": body["contract"],
        "risk_threshold": body["risk_threshold"],
        "decision": "answer" if answer else "abstain",
        "reason": None if answer else "answer_missing",
        "answer": answer,
        "confidence": confidence,
        "text": prose if answer else None,
        "claims": None,
        "withheld": {"answer": None, "text": prose, "claims": None} if shown and not answer else None,
        "raw": text if shown else None,
        "usage": {"prompt_tokens": 7, "completion_tokens": len(text.split())},
    } | ({"settled": {"by": "continued", "after": "stop"}} if "\n\nAnswer:" in text else {})


@pytest.fixture
def host() -> Iterator[Host]:
    """The host, serving."""
    host = Host()
    with serving(host.app()) as url:
        host.url = url
        yield host
        host.stop()


@pytest.fixture
def sums(tmp_path: Path) -> Callable[[int], Path]:
    """Makes a file of n questions: what is k plus k?"""

    def make(n: int) -> Path:
        path = tmp_path / "sums.jsonl"
        records = [{"id": f"sum-{k}", "question": f"What is {k} plus {k}?", "answer": str(2 * k)} for k in range(n)]
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return path

    return make


@pytest.fixture
def demur() -> Callable[..., Any]:
    """Runs the command line in this process."""

    def run(*arguments: object) -> Any:
        return CliRunner().invoke(main, [str(argument) for argument in arguments], env={"COLUMNS": "140"})

    return run
