"""Answers written straight into the store, and graders who know what is right."""

import asyncio

from demur.feedback.grades import Given, Grader

CONDITIONS = {"contract": "response", "prompt": "64a81757e21c", "granularity": "response", "aggregation": None}
CONDITIONS |= {"source": "verbalized", "samples": 1, "temperature": 1.0}


def row(number: int, confidence: float | None, queue: str | None = "audit", **fields):
    return {
        "id": f"ans_{number:026d}",
        "created": 1_800_000_000.0 + number,
        "caller": "",
        "problem": f"problem {number}",
        "risk_threshold": 0.5,
        "decision": "answer",
        "reason": None,
        "confidence": confidence,
        "confidence_source": "verbalized",
        "calibrator": None,
        "signals": {"verbalized": confidence},
        "conditions": CONDITIONS,
        "samples": 1,
        "queue": queue,
        "probability": 0.05,
        "rank": number / 1e6,
        "state": "open",
        "skips": 0,
        "claims": [],
        "messages": [{"role": "user", "content": f"question {number}"}],
        "answer": "70",
        "text": "",
    } | fields


def write(server, rows) -> None:
    options = server.feedback.options
    promise = {"promise_error": options.max_error, "promise_threshold": options.threshold}
    server.feedback._write([promise | one for one in rows])


def grade(server, verdicts, name: str = "grader", limit: int = 100_000) -> None:
    """Take the whole queue and grade each item: verdicts(row) says whether it is right."""

    async def work() -> None:
        for queue in ("audit", "learn"):
            items = await server.feedback.claim(queue, name, limit)
            given = [
                Given(answer_id=item["id"], lease=item["lease"], verdict="right" if verdicts(item) else "wrong")
                for item in items
            ]
            if given:
                await server.feedback.give(given, Grader(name=name, may_grade=True))

    asyncio.run(work())
