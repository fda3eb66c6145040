"""Validation outputs: what the model answered at each validation of a run.

verl writes them (`trainer.validation_data_dir`), one file a step.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = "validation"
NAMES = {
    "input": "prompt",
    "output": "output",
    "gts": "truth",
    "score": "score",
    "valid": "right",
    "confidence": "confidence",
}
"""verl's name of each field of an output."""


@dataclass(frozen=True, slots=True)
class ValidationOutput:
    """One output. `confidence` is the stated one, None where none could be read; `score` is its reward, with the
    punishment for its length."""

    prompt: str
    output: str
    truth: str
    score: float
    right: bool
    confidence: float | None


def write(run: Path, step: int, outputs: Iterable[ValidationOutput]) -> None:
    """As verl does, for a loop of our own."""
    (run / FOLDER).mkdir(exist_ok=True)
    rows = ({name: getattr(one, field) for name, field in NAMES.items()} for one in outputs)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (run / FOLDER / f"{step}.jsonl").write_text(lines, encoding="utf-8")


def steps(run: Path) -> list[int]:
    """The steps at which a run was validated and its outputs kept, in order."""
    return sorted(int(path.stem) for path in (run / FOLDER).glob("*.jsonl") if path.stem.isdigit())


def read(run: Path, step: int) -> list[ValidationOutput]:
    """The outputs of one validation; lines that a kill cut short are left out."""
    return list(_outputs((run / FOLDER / f"{step}.jsonl").read_text(encoding="utf-8")))


def _outputs(text: str) -> Iterator[ValidationOutput]:
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            return
        if row.get("valid") is not None:  # verl leaves out of the dump what was not graded
            fields = {field: row.get(name) for name, field in NAMES.items()}
            yield ValidationOutput(**fields | {"truth": str(row["gts"]), "right": bool(row["valid"])})
