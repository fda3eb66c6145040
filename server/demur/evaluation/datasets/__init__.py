"""The datasets by name. A new one is one small file and one line here."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from demur.evaluation.datasets.aime import AIME2024, AIME2025, BEYOND_AIME
from demur.evaluation.datasets.anything import anything
from demur.evaluation.datasets.base import Dataset, GraderName, Hub, Question, questions
from demur.evaluation.datasets.files import fetch, fingerprint, read_file
from demur.evaluation.datasets.gsm8k import GSM8K
from demur.evaluation.datasets.math500 import MATH500
from demur.evaluation.datasets.simpleqa import SIMPLE_QA
from demur.evaluation.datasets.triviaqa import TRIVIA_QA
from demur.evaluation.errors import DatasetError
from demur.prompts import Domain
from demur.records import has_known_suffix

DATASETS: dict[str, Dataset] = {
    dataset.name: dataset for dataset in (AIME2024, AIME2025, BEYOND_AIME, MATH500, GSM8K, SIMPLE_QA, TRIVIA_QA)
}

__all__ = ["DATASETS", "Dataset", "GraderName", "Hub", "Loaded", "Question", "load"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A dataset and its questions. `source` and `sha256` say which rows they were, `merged` how many were repeats."""

    dataset: Dataset
    questions: tuple[Question, ...]
    source: str
    sha256: str
    merged: int

    def recorded(self) -> dict[str, Any]:
        """What the manifest of a run over these questions says of them."""
        return {
            "dataset": self.dataset.name,
            "source": self.source,
            "sha256": self.sha256,
            "questions": len(self.questions),
            "domain": self.dataset.domain,
            "grader": self.dataset.grader,
        }


def load(
    name: str,
    *,
    data: str | None = None,
    split: str | None = None,
    limit: int | None = None,
    domain: Domain | None = None,
    grader: GraderName | None = None,
) -> Loaded:
    """The questions of a dataset.

    `name` is one of DATASETS, a file, or a hub id (owner/name). `data`, a file or a hub id, says where the rows of a
    named dataset are to come from. `limit` keeps the first rows. Raises DatasetError.
    """
    dataset = DATASETS.get(name) or anything(Path(name).name, domain or "general", grader or "maths")
    dataset = replace(dataset, domain=domain or dataset.domain, grader=grader or dataset.grader)
    paths, source = _found(dataset, data or name, split)
    records = [record for path in paths for record in read_file(path)]
    read, merged = questions(dataset, records)
    return Loaded(dataset, tuple(read[:limit]), source, fingerprint(paths), merged)


def _found(dataset: Dataset, place: str, split: str | None) -> tuple[list[Path], str]:
    path = Path(place)
    if path.is_file():
        return [path], path.name
    if dataset.hub is not None and place == dataset.name:
        return _from_hub(replace(dataset.hub, split=split or dataset.hub.split))
    if has_known_suffix(place) or place.count("/") != 1:
        known = ", ".join(DATASETS)
        raise DatasetError(f"{place}: no such file, and none of the datasets known by name ({known})")
    return _from_hub(Hub(place, split or "test"))


def _from_hub(hub: Hub) -> tuple[list[Path], str]:
    return fetch(hub), f"{hub.repo} ({hub.split})"
