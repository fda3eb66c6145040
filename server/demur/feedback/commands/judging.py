"""`demur grade --judge-model`: a queue worked through by a judge model on any OpenAI-compatible host.

The judge is evaluation's, with its retries and its readings of verdicts. Its verdicts are marked as a judge's.
"""

import asyncio
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demur.core.answers import Claim
from demur.engine.base import Message
from demur.evaluation.asking.endpoint import Endpoint, connect
from demur.evaluation.asking.store import Store
from demur.evaluation.judging import claims, simpleqa, unreferenced
from demur.evaluation.judging.judge import Judge
from demur.feedback.commands.server import GradingServer, Refused

AT_ONCE = 8
"""Items that are taken, and judged side by side."""
TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class JudgeHost:
    """Where the judge is: an address, with or without /v1, a model's name, a key."""

    base_url: str
    model: str
    api_key: str | None


@dataclass(frozen=True, slots=True)
class Judged:
    """How many items were graded, and how many the judge had no verdict on; `trouble` is the last reason for that."""

    graded: int
    silent: int
    trouble: str | None


async def judge_queue(server: GradingServer, queue: str, host: JudgeHost) -> Judged:
    """Grade until the queue has none left but those the judge has no verdict on, which go behind the others for people.

    Raises Refused or EvaluationError.
    """
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "verdicts.jsonl.gz") as cache:
        async with connect(host.base_url, host.api_key, timeout=TIMEOUT, connections=AT_ONCE) as client:
            judge = Judge(Endpoint(client), host.model, cache)
            passed: set[str] = set()
            graded = 0
            while items := [one for one in server.take_many(queue, AT_ONCE) if _is_new(server, one, passed)]:
                graded += sum(await _judge_all(server, judge, items, passed))
            return Judged(graded, len(passed), judge.last_trouble)


def _is_new(server: GradingServer, item: dict[str, Any], passed: set[str]) -> bool:
    """Whether the judge has not passed over it before; else it goes back for somebody else."""
    if item["answer_id"] in passed:
        server.send(item, {"skip": "release"})
        return False
    return True


async def _judge_all(server: GradingServer, judge: Judge, items: list[dict[str, Any]], passed: set[str]) -> list[bool]:
    """Judge items side by side, and send what comes of it; which of them were graded. Where that fails all of them go
    back."""
    try:
        found = await asyncio.gather(*(verdicts(judge, item) for item in items))
        for item, said in zip(items, found, strict=True):
            if said is None:
                passed.add(item["answer_id"])
                server.send(item, {"skip": "later"})
            else:
                about = {"answer_id": item["answer_id"], "lease": item["lease"], "judge": True}
                server.send_many([about | one for one in said])
    except BaseException:
        with suppress(Refused):
            for item in items:
                server.send(item, {"skip": "release"})
        raise
    return [said is not None for said in found]


async def verdicts(judge: Judge, item: dict[str, Any]) -> list[dict[str, Any]] | None:
    """What is to be said of an item, its claims first where they were decided on; None where the judge cannot tell."""
    right = await _of_answer(judge, item)
    if right is None:
        return None
    whole = {"correct": right}
    if item["granularity"] != "claims" or not item["claims"]:
        return [whole]
    steps = [Claim(one["text"], (0, 0), None, "") for one in item["claims"]]
    question = "\n".join(message["content"] for message in item["messages"])
    judged = await judge.verdict(claims.case(question, steps, item["answer"], right))
    return None if judged is None else [*({"claim": i, "correct": one} for i, one in enumerate(judged)), whole]


async def _of_answer(judge: Judge, item: dict[str, Any]) -> bool | None:
    """By the known answer where there is one. No answer is never right."""
    if item["answer"] is None:
        return False
    messages = [Message(role=one["role"], content=one["content"]) for one in item["messages"]]
    if item["gold"] is not None:
        grade = await judge.verdict(simpleqa.case(messages[-1]["content"], item["gold"], item["answer"]))
    else:
        grade = await judge.verdict(unreferenced.case(messages, item["answer"]))
    return None if grade is None else grade == "CORRECT"
