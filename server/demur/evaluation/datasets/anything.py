"""Any file of questions and answers."""

from demur.evaluation.datasets.base import Dataset, GraderName, Question, Record, field, has, text_of
from demur.prompts import Domain

QUESTION = "question", "problem", "prompt", "input"
ANSWER = "answer", "answers", "gold", "target", "expected_answer", "solution"
NAME = "id", "question_id", "unique_id", "idx"


def _read(record: Record, number: int) -> Question:
    answer = field(record, number, *ANSWER)
    golds = answer if isinstance(answer, list | tuple) else [answer]
    name = next((record[key] for key in NAME if has(record, key) and record[key] != ""), number)
    return Question(str(name), str(field(record, number, *QUESTION)), tuple(text_of(gold) for gold in golds))


def anything(name: str, domain: Domain, grader: GraderName) -> Dataset:
    """A dataset for rows with a question, an answer (or a list of accepted ones) and perhaps an id."""
    return Dataset(name, domain, grader, _read)
