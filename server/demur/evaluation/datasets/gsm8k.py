"""GSM8K: grade-school word problems; the gold answer follows "####" in the worked solution."""

from demur.evaluation.datasets.base import Dataset, Hub, Question, Record, field


def _read(record: Record, number: int) -> Question:
    _, _, gold = str(field(record, number, "answer")).rpartition("####")
    return Question(f"gsm8k-{number}", str(field(record, number, "question")), (gold.strip().replace(",", ""),))


GSM8K = Dataset("gsm8k", "maths", "maths", _read, Hub("openai/gsm8k", "test", "main"))
