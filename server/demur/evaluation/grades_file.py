"""Graded outputs on disk: what the report and the scaling curves are made from, long after the run."""

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from demur.core.answers import Claim
from demur.evaluation.asking.base import Output, RequestId
from demur.evaluation.datasets import Question
from demur.evaluation.errors import StoreError
from demur.evaluation.grade import Graded
from demur.evaluation.judging.graders import Verdict

GRADED = "graded.jsonl.gz"


def write_graded(folder: Path, graded: Iterable[Graded]) -> None:
    """Write every graded output of a run, replacing an earlier file whole."""
    path = folder / GRADED
    beside = path.with_suffix(".new")
    with gzip.open(beside, "wt", encoding="utf-8", errors="surrogatepass") as file:
        for one in graded:
            file.write(json.dumps(asdict(one) | {"key": one.key._asdict()}) + "\n")
    beside.replace(path)


def read_graded(folder: Path) -> Iterator[Graded]:
    """The graded outputs of a run. Raises StoreError where the folder holds none."""
    path = folder / GRADED
    try:
        with gzip.open(path, "rt", encoding="utf-8", errors="surrogatepass") as file:
            for line in file:
                yield _graded(json.loads(line))
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise StoreError(f"{path} cannot be read ({error}); run demur evaluate again: nothing is asked twice") from None


def _graded(record: dict[str, Any]) -> Graded:
    question, output, verdict = record["question"], record["output"], record["verdict"]
    claims = tuple(_claim(claim) for claim in output.pop("claims"))
    return Graded(
        RequestId(**record["key"]),
        Question(question["id"], question["text"], tuple(question["gold"])),
        Output(**output, claims=claims),
        Verdict(**verdict),
        tuple(record["claims"]),
        record["group"],
    )


def _claim(record: dict[str, Any]) -> Claim:
    start, end = record["span"]
    return Claim(record["text"], (start, end), record["confidence"], record["explanation"], tuple(record["problems"]))
