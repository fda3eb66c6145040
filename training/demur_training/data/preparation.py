"""Questions and answers -> the parquet files verl trains on, with a report of what was left out and why."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from demur import prompts
from demur.core.answers import ContractName
from demur.core.contracts import CONTRACTS
from demur_training.data.overlap import Overlap, words
from demur_training.data.questions import Question, extract, raw_text
from demur_training.errors import DataError


@dataclass(frozen=True, slots=True)
class DataSettings:
    """How questions become training rows. `ngram` words in a row shared with an evaluation question are too many."""

    contract: ContractName
    domain: prompts.Domain = "maths"
    val_size: int = 200
    limit: int | None = None
    seed: int = 0
    ngram: int = 13


@dataclass(slots=True)
class Report:
    """What happened to the rows."""

    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def drop(self, reason: str, example: str) -> None:
        """Count a row that is left out, and remember one to show."""
        self.dropped[reason] += 1
        self.examples.setdefault(reason, example[:200])

    def as_dict(self) -> dict[str, Any]:
        """As it is written beside the data."""
        return {"read": self.read, "kept": self.kept, "dropped": dict(self.dropped), "examples": self.examples}


def write(
    rows: Iterable[Mapping[str, Any]],
    source: str,
    settings: DataSettings,
    out: Path,
    *,
    validation: Iterable[Mapping[str, Any]] | None = None,
    validation_source: str | None = None,
    evaluation: Iterable[Mapping[str, Any]] = (),
) -> Report:
    """Write `train.parquet`, `val.parquet` and `report.json` into `out`.

    `source` and `validation_source` name the sets in the logs. Without `validation` the last `settings.val_size`
    questions, shuffled, are held out. Raises DataError when no
    question is left.
    """
    report = Report()
    taken = [extract_text(row) for row in evaluation]
    held_out = list(questions(validation, Report(), Overlap(settings.ngram))) if validation is not None else None
    if held_out is not None:
        taken += [q.text for q in held_out]
    kept = list(questions(rows, report, Overlap(settings.ngram, taken)))
    random.Random(settings.seed).shuffle(kept)
    if held_out is None:
        size = min(settings.val_size, len(kept) // 10)
        kept, held_out = kept[size:], kept[:size]
    kept = kept[: settings.limit]
    if not kept or not held_out:
        raise DataError(f"{source}: no question left to train on or to validate with; {describe(report)}")
    report.kept = len(kept)
    out.mkdir(parents=True, exist_ok=True)
    for split, chosen, name in (("train", kept, source), ("val", held_out, validation_source or source)):
        rows_of_split = [verl_row(q, i, name, split, settings) for i, q in enumerate(chosen)]
        write_parquet(out / f"{split}.parquet", rows_of_split)
    (out / "report.json").write_text(json.dumps(report.as_dict(), indent=2, ensure_ascii=False) + "\n")
    return report


def questions(rows: Iterable[Mapping[str, Any]], report: Report, overlap: Overlap) -> Iterator[Question]:
    """The usable questions: verifiable, not seen before, not in an evaluation set. Fills in the report."""
    seen: dict[str, Question] = {}
    disputed: set[str] = set()
    copies: set[int] = set()
    for row in rows:
        report.read += 1
        fingerprint = hash(raw_text(row))  # one of the sets on the hub holds every row a hundred times
        if fingerprint in copies:
            report.dropped["duplicate"] += 1
            continue
        copies.add(fingerprint)
        found = extract(row)
        if isinstance(found, str):
            report.drop(found, json.dumps(dict(row), default=str, ensure_ascii=False))
            continue
        key = " ".join(words(found.text))
        if key in seen:
            same = set(seen[key].answers) & set(found.answers)
            report.drop("duplicate" if same else "duplicate with another answer", found.text)
            disputed |= set() if same else {key}
        elif overlap.with_evaluation(found.text):
            report.drop("in an evaluation set", found.text)
        else:
            seen[key] = found
    for key in disputed:
        report.drop("duplicate with another answer", seen[key].text)
    yield from (question for key, question in seen.items() if key not in disputed)


def extract_text(row: Mapping[str, Any]) -> str:
    """The question of an evaluation row, whatever becomes of its answer."""
    found = extract({**row, "answer": row.get("answer") or "0"})
    return found.text if isinstance(found, Question) else ""


def verl_row(question: Question, index: int, source: str, split: str, settings: DataSettings) -> dict[str, Any]:
    """One row in verl's shape. Explicit risk: t spread evenly over validation, drawn anew at every training read."""
    info: dict[str, Any] = {
        "index": index,
        "split": split,
        "question": question.text,
        "contract": settings.contract,
        "domain": settings.domain,
    }
    threshold = None
    if CONTRACTS[settings.contract].states_threshold:
        threshold = index * 37 % 100 / 100  # 37 and 100 share no factor: a hundred rows have a hundred thresholds
        info |= {"risk_threshold": threshold, "redraw": split == "train"}
    chat = prompts.messages(question.text, settings.contract, domain=settings.domain, risk_threshold=threshold)
    return {
        "data_source": source,
        "prompt": [dict(message) for message in chat],
        "ability": settings.domain,
        "reward_model": {"style": "rule", "ground_truth": question.ground_truth},
        "extra_info": info,
    }


def known_domain(name: str) -> prompts.Domain:
    """The domain of that name. Raises DataError."""
    if name not in get_args(prompts.Domain):
        raise DataError(f"no such domain: {name}; there are {', '.join(get_args(prompts.Domain))}")
    return cast(prompts.Domain, name)


def describe(report: Report) -> str:
    """One line a person can read."""
    dropped = ", ".join(f"{count:,} {reason}" for reason, count in report.dropped.most_common())
    kept = f"{report.read:,} rows read, {report.kept:,} kept for training"
    return f"{kept}; left out: {dropped}" if dropped else kept


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows as verl reads them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows), path)
