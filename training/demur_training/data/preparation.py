"""Questions and answers -> the parquet files verl trains on, with a report of what was left out and why."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from demur import prompts
from demur.core.answers import Contract
from demur_training.data.questions import Question, extract, raw_text
from demur_training.errors import DataError

HUB: Mapping[str, tuple[str, str | None]] = {
    "dapo-math-17k": ("BytedTsinghua-SIA/DAPO-Math-17k", None),
    "deepscaler": ("agentica-org/DeepScaleR-Preview-Dataset", None),
    "math": ("DigitalLearningGmbH/MATH-lighteval", None),
    "gsm8k": ("openai/gsm8k", "main"),
}
"""Names that stand for a data set on the hub: its id and configuration."""


@dataclass(frozen=True, slots=True)
class DataSettings:
    """How questions become training rows. `ngram` words in a row shared with an evaluation question are too many."""

    contract: Contract
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
        return {"read": self.read, "kept": self.kept, "dropped": dict(self.dropped), "examples": self.examples}


def write(
    rows: Iterable[Mapping[str, Any]],
    source: str,
    settings: DataSettings,
    out: Path,
    *,
    validation: Iterable[Mapping[str, Any]] | None = None,
    evaluation: Iterable[Mapping[str, Any]] = (),
) -> Report:
    """Write `train.parquet`, `val.parquet` and `report.json` into `out`.

    Without `validation` the last `settings.val_size` questions, shuffled, are held out. Raises DataError when no
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
    for split, chosen in (("train", kept), ("val", held_out)):
        _write_parquet(
            out / f"{split}.parquet", [verl_row(q, i, source, split, settings) for i, q in enumerate(chosen)]
        )
    (out / "report.json").write_text(json.dumps(report.as_dict(), indent=2, ensure_ascii=False) + "\n")
    return report


def questions(rows: Iterable[Mapping[str, Any]], report: Report, overlap: "Overlap") -> Iterator[Question]:
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


class Overlap:
    """Finds questions that share `n` words in a row with an evaluation question, or all words of a shorter one.

    Runs of words that stand in several evaluation questions are phrases of the trade and give nothing away ("where m
    and n are relatively prime positive integers").
    """

    def __init__(self, n: int, evaluation: Sequence[str] = ()) -> None:
        self._n = n
        texts = {tuple(words(text)) for text in evaluation} - {()}
        count = Counter(gram for tokens in texts for gram in set(self._ngrams(tokens)))
        self._grams = {gram for gram, found in count.items() if found == 1}
        self._whole = {tokens for tokens in texts if len(tokens) < n}

    def with_evaluation(self, text: str) -> bool:
        """Whether `text` gives an evaluation question away."""
        tokens = tuple(words(text))
        return tokens in self._whole or any(gram in self._grams for gram in self._ngrams(tokens))

    def _ngrams(self, tokens: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        return (tokens[i : i + self._n] for i in range(len(tokens) - self._n + 1))


def words(text: str) -> list[str]:
    """Lower-case words, numbers and LaTeX commands: what two copies of a problem agree in."""
    return re.findall(r"[a-z]+|\d+(?:\.\d+)?", text.lower())


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
    if settings.contract == "explicit_risk":
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


def read_rows(name: str) -> Iterator[dict[str, Any]]:
    """Rows of a local file (.jsonl, .json, .parquet, .csv), of a name in HUB, or of any data set id on the hub.

    Raises DataError when there is nothing to read.
    """
    path = Path(name)
    if path.suffix in READERS:
        if not path.is_file():
            raise DataError(f"no such file: {path}")
        return READERS[path.suffix](path)
    if name not in HUB and "/" not in name:
        raise DataError(f"no such data set: {name}; give a file ({', '.join(READERS)}), a hub id, or {', '.join(HUB)}")
    return _from_hub(*HUB.get(name, (name, None)))


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


def _from_hub(name: str, configuration: str | None) -> Iterator[dict[str, Any]]:
    from datasets import load_dataset
    from datasets.exceptions import DatasetNotFoundError

    try:
        for row in load_dataset(name, configuration, split="train"):
            yield dict(row)
    except (DatasetNotFoundError, ConnectionError, OSError) as error:
        raise DataError(f"cannot read {name} from the hub ({error}); give a local file instead") from error


def _jsonl(path: Path) -> Iterator[dict[str, Any]]:
    with path.open() as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except json.JSONDecodeError as error:
                    raise DataError(f"{path}:{number} is no JSON: {error.msg}") from error


def _json(path: Path) -> Iterator[dict[str, Any]]:
    content = json.loads(path.read_text())
    yield from content if isinstance(content, list) else content["data"]


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(path).iter_batches():
        yield from batch.to_pylist()


def _csv(path: Path) -> Iterator[dict[str, Any]]:
    import csv

    with path.open(newline="") as file:
        yield from csv.DictReader(file)


READERS = {".jsonl": _jsonl, ".json": _json, ".parquet": _parquet, ".csv": _csv}


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows), path)
