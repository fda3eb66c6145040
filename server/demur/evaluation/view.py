"""Everything there is to say about one run, read back from its folder."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demur.core.metrics import Missing
from demur.evaluation.errors import StoreError
from demur.evaluation.grade import Graded
from demur.evaluation.grades_file import read_graded
from demur.evaluation.job import CLAIMS, ROWS
from demur.evaluation.judging.labels import Agreement, agreement
from demur.evaluation.promise import Promise, promise_of
from demur.evaluation.results import Results, score
from demur.evaluation.row_files import read_rows
from demur.evaluation.rows import RowSet
from demur.evaluation.run_manifest import read_manifest
from demur.evaluation.scaling import Scaling, scale

METRICS_FILE = "metrics.json"


@dataclass(frozen=True, slots=True)
class RunView:
    """One run. `claims` is None unless single claims were judged, `promise` unless an error rate was asked for,
    `scaling` with one sample a question; the agreements need labels."""

    name: str
    manifest: dict[str, Any]
    results: Results
    graded: list[Graded]
    claims: Results | None = None
    promise: Promise | None = None
    scaling: Scaling | None = None
    agreement: Agreement | None = None
    claim_agreement: Agreement | None = None

    def as_dict(self) -> dict[str, Any]:
        """For `metrics.json`."""
        parts = {"response": self.results, "claims": self.claims, "scaling": self.scaling, "guarantee": self.promise}
        return {name: part.as_dict() for name, part in parts.items() if part is not None}


def view(
    folder: Path,
    *,
    missing: Missing = "skip",
    baseline: RowSet | None = None,
    labels: Path | None = None,
) -> RunView:
    """Read a run and score it. Raises EvaluationError where the folder holds no finished run."""
    manifest = read_manifest(folder)
    if not (folder / ROWS).exists():
        raise StoreError(f"{folder}: the run has no rows yet; go on with it by the same demur evaluate command")
    rows = read_rows(folder / ROWS, beside=True, may_be_empty=True)
    claims = read_rows(folder / CLAIMS, beside=True, may_be_empty=True) if (folder / CLAIMS).exists() else None
    graded = list(read_graded(folder))
    return RunView(
        name=_name(manifest),
        manifest=manifest,
        results=score(rows, missing=missing, baseline=baseline),
        graded=graded,
        claims=score(claims, missing=missing) if claims is not None else None,
        scaling=scale(graded),
        promise=promise_of(graded, manifest["plan"].get("max_error")),
        agreement=_agreement(rows, labels, "response"),
        claim_agreement=_agreement(claims, labels, "claims"),
    )


def baseline_rows(place: Path | None) -> RowSet | None:
    """The rows of a baseline, given as a run's folder or as a file of rows."""
    if place is None:
        return None
    return read_rows(place / ROWS if place.is_dir() else place, beside=True)


def write_metrics(folder: Path, run: RunView) -> None:
    """Write the figures of a run as JSON."""
    (folder / METRICS_FILE).write_text(json.dumps(run.as_dict(), indent=2) + "\n", encoding="utf-8")


def _agreement(rows: RowSet | None, labels: Path | None, level: Any) -> Agreement | None:
    if rows is None or labels is None:
        return None
    people = read_rows(labels, level, beside=True)
    return agreement(rows.rows, people.rows) if people.rows else None


def _name(manifest: dict[str, Any]) -> str:
    plan = manifest["plan"]
    model = plan["model"] or (manifest.get("served") or {}).get("name") or "default model"
    return f"{model} on {plan['dataset']}, {plan['contract']}"
