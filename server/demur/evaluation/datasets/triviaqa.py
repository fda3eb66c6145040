"""TriviaQA: factual questions with every accepted spelling of the answer."""

from collections.abc import Mapping
from typing import Any

from demur.evaluation.datasets.base import Dataset, Hub, Question, Record, field


def _read(record: Record, number: int) -> Question:
    name = record.get("question_id") or f"triviaqa-{number}"
    return Question(str(name), str(field(record, number, "question")), _aliases(field(record, number, "answer")))


def _aliases(answer: Any) -> tuple[str, ...]:
    """The hub's rows hold {"value", "aliases"}, others a plain list or one string."""
    if isinstance(answer, Mapping):
        answer = [answer.get("value"), *answer.get("aliases", [])]
    names = [answer] if isinstance(answer, str) else list(answer)
    return tuple(dict.fromkeys(str(name) for name in names if name))


TRIVIA_QA = Dataset("triviaqa", "general", "aliases", _read, Hub("mandarjoshi/trivia_qa", "validation", "rc.nocontext"))
