"""Graded problems as JSON lines that evaluation and training read, with what is true of each problem beside it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from demur_smol_lab.problems.problem import Problem
from demur_smol_lab.problems.splits import Split

SIZES: Mapping[Split, int] = {"train": 6000, "validation": 500, "test": 1500, "choosing": 500, "transfer": 1000}
"""Problems of each split that `demur-smol-lab problems` writes."""

NO_ANSWER = "no answer is right"
"""The gold answer written where nobody could know it."""


def row(problem: Problem, name: str) -> dict[str, Any]:
    """One JSON line: id, question, answer; and the cell and steps, for tables by difficulty and for claims."""
    return {
        "id": name,
        "question": problem.question,
        "answer": NO_ANSWER if problem.answer is None else problem.answer,
        "cell": problem.cell,
        "facts": list(problem.facts),
        "steps": [str(step) for step in problem.steps],
    }


def write(problems: Iterable[Problem], path: Path, name: str) -> int:
    """Write problems as JSON lines with the ids `name`-0, `name`-1, ...; returns how many."""
    lines = [json.dumps(row(p, f"{name}-{i}"), ensure_ascii=False) for i, p in enumerate(problems)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines))
    return len(lines)
