"""MATH-500: five hundred competition problems with answers in LaTeX."""

from demur.evaluation.datasets.base import Dataset, Hub, Question, Record, field, text_of


def _read(record: Record, number: int) -> Question:
    name = record.get("unique_id") or f"math500-{number}"
    return Question(str(name), str(field(record, number, "problem")), (text_of(field(record, number, "answer")),))


MATH500 = Dataset("math500", "maths", "maths", _read, Hub("HuggingFaceH4/MATH-500", "test"))
