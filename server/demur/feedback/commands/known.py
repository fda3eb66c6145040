"""`demur grade --known`: answers in a queue whose right ones are known are graded by the server's comparison."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demur.feedback.commands.server import GradingServer, Refused

AT_ONCE = 50


def read_known(path: Path) -> dict[str, str]:
    """Known answers by question, from JSON Lines with "question" and "answer". Raises Refused, which names the line."""
    known: dict[str, str] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path}: {getattr(error, 'strerror', None) or 'this is no text in UTF-8'}") from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            question, answer = _pair(line, f"{path}, line {number}")
            if answer is not None and known.setdefault(question, answer) != answer:
                raise Refused(f"{path}, line {number}: the question was there before with another answer")
    return known


def _pair(line: str, place: str) -> tuple[str, str | None]:
    try:
        record = json.loads(line)
        question, answer = record["question"], record.get("answer")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refused(f'{place}: write {{"question": "...", "answer": "..."}}') from None
    answer = str(answer) if isinstance(answer, int | float) and not isinstance(answer, bool) else answer
    if not isinstance(question, str) or not isinstance(answer, str | None):
        raise Refused(f'{place}: "question" and "answer" must be texts')
    return question.strip(), answer


def grade_known(server: GradingServer, queue: str, known: Mapping[str, str]) -> tuple[int, int]:
    """How many items were graded, and how many stay for people, who get them after the others. Raises Refused."""
    passed: set[str] = set()
    graded = 0
    while items := server.take_many(queue, AT_ONCE):
        new = [item for item in items if item["answer_id"] not in passed]
        for item in items:
            if item not in new:
                server.send(item, {"skip": "release"})
        if not new:
            break
        found = {item["answer_id"]: gold for item in new if (gold := _gold(item, known)) is not None}
        if found:
            server.send_many([_verdict(item, found[item["answer_id"]]) for item in new if item["answer_id"] in found])
        for item in new:
            if item["answer_id"] not in found:
                passed.add(item["answer_id"])
                server.send(item, {"skip": "later"})
        graded += len(found)
    return graded, len(passed)


def _gold(item: Mapping[str, Any], known: Mapping[str, str]) -> str | None:
    """The known answer to what was asked; none within a conversation, where a question may mean something else."""
    return known.get(item["messages"][-1]["content"].strip()) if len(item["messages"]) == 1 else None


def _verdict(item: Mapping[str, Any], gold: str) -> dict[str, Any]:
    return {"answer_id": item["answer_id"], "lease": item["lease"], "gold": gold}
