"""SimpleQA: short factual questions, graded by a judge as correct, incorrect or not attempted."""

from demur.evaluation.datasets.base import Dataset, Hub, Question, Record, field


def _read(record: Record, number: int) -> Question:
    text = str(field(record, number, "problem", "question"))
    return Question(f"simpleqa-{number}", text, (str(field(record, number, "answer")),))


SIMPLE_QA = Dataset("simpleqa", "general", "simpleqa", _read, Hub("basicv8vc/SimpleQA", "test"))
