"""AIME 2024, AIME 2025 and BeyondAIME: hard competition problems whose answers are whole numbers."""

from demur.evaluation.datasets.base import Dataset, Hub, Question, Record, field, text_of


def _read(record: Record, number: int) -> Question:
    name = record.get("id")
    return Question(
        str(number if name is None else name),
        str(field(record, number, "problem", "question")),
        (text_of(field(record, number, "answer")).strip(),),
    )


AIME2024 = Dataset("aime2024", "maths", "maths", _read, Hub("HuggingFaceH4/aime_2024", "train"))
AIME2025 = Dataset("aime2025", "maths", "maths", _read, Hub("math-ai/aime25", "test"))
BEYOND_AIME = Dataset("beyondaime", "maths", "maths", _read, Hub("ByteDance-Seed/BeyondAIME", "test"))
