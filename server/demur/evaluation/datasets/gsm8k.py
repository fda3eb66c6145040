"""GSM8K: grade-school word problems; the gold answer follows "####" in the worked solution."""

from demur.core.equivalence import after_hashes
from demur.evaluation.datasets.base import Dataset, Hub, Question, Record, field


def _read(record: Record, number: int) -> Question:
    solution = str(field(record, number, "answer"))
    answer = after_hashes(solution)
    if answer is None:  # a file with bare answers
        answer = solution.strip().replace(",", "")
    return Question(f"gsm8k-{number}", str(field(record, number, "question")), (answer,))


GSM8K = Dataset("gsm8k", "maths", "maths", _read, Hub("openai/gsm8k", "test", "main"))
