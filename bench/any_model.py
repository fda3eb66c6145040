"""What free reasoning costs and gains a stock model, and what each sign of doubt is worth: a table out of kept rows.

python -m bench any_model [--keep RUNS] [--rows FOLDER] [--halves OUT]

`--keep RUNS` takes the graded answers of finished `demur evaluate` runs, the folders RUNS/DATASET-MODE, and keeps them
without their text: one file a run, which the tables are made from. The modes are `bare` (no contract, an answer in a
box), `free` (its own way, then settled), `forced` (the whole output in one expression) and `samples` (free, five
samples). Runs of one dataset ask the same questions in the same order, so that differences are paired. `--halves OUT`
writes two random halves of each run's rows, for `demur calibrate` and `demur calibrators test`.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from bench.report import publish

from demur.calibration.fit import Graded, fit
from demur.core.calibration.maps import Map, trimmed
from demur.core.metrics import METRICS, Difference, Estimate, Rows, compare, number, summarise
from demur.evaluation.grades_file import read_graded

KEPT = Path(__file__).parent / "rows" / "any_model"
SIGNALS = ("verbalized", "answer_logprob", "p_true", "agreement")
SHOWN = ("auc", "smece", "snr_gain", "brier")
FOLDS = 2


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """One graded answer without its text. `confidence` is what it stated, `tokens` what it wrote, tail and all."""

    problem: str
    correct: bool
    confidence: float | None
    tokens: int
    settled: str | None
    signals: Mapping[str, float | None]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        return cls(**record)


def graded_answers(run: Path) -> Iterator[KeptAnswer]:
    """The answers of a finished run that could be graded, in the order of its questions."""
    for graded in sorted(read_graded(run), key=lambda one: one.key.problem):
        output = graded.output
        stated = output.confidence if output.state == "value" else None
        correct = bool(graded.verdict.correct)
        yield KeptAnswer(graded.key.problem, correct, stated, output.tokens, output.settled, output.signals or {})


def keep(runs: Path, folder: Path) -> None:
    """Write the rows of every run below `runs`."""
    folder.mkdir(parents=True, exist_ok=True)
    for run in sorted(path.parent for path in runs.glob("*/graded.jsonl.gz")):
        lines = [json.dumps({name: getattr(row, name) for name in KeptAnswer.__slots__}) for row in graded_answers(run)]
        (folder / f"{run.name}.jsonl").write_text("".join(f"{line}\n" for line in lines))


def read(folder: Path) -> dict[tuple[str, str], list[KeptAnswer]]:
    """Dataset and mode -> its rows."""
    found: dict[tuple[str, str], list[KeptAnswer]] = {}
    for path in sorted(folder.glob("*-*.jsonl")):
        dataset, mode = path.stem.rsplit("-", 1)
        found[dataset, mode] = [KeptAnswer.of(json.loads(line)) for line in path.read_text().splitlines()]
    return found


def packed(rows: Sequence[KeptAnswer], signal: str | None = None, coding: Mapping[Any, int] | None = None) -> Rows:
    """The rows as the metrics take them, with the stated confidence or one of the signals."""
    values = [row.confidence if signal is None else row.signals.get(signal) for row in rows]
    return Rows.of(values, [row.correct for row in rows], [row.problem for row in rows], coding=coding)


def text(figure: Estimate, form: str = ".3f") -> str:
    if figure.value is None:
        return "none"
    ends = "" if figure.low is None else f" ({figure.low:{form}} to {figure.high:{form}})"
    return f"{figure.value:{form}}{ends}"


def paired(first: Sequence[KeptAnswer], second: Sequence[KeptAnswer]) -> Difference:
    """Accuracy of the second less the first, over the questions that both were asked."""
    shared = {row.problem for row in first} & {row.problem for row in second}
    coding = number(sorted(shared))
    both = [packed([row for row in rows if row.problem in shared], coding=coding) for rows in (first, second)]
    return compare(*both, metrics={"accuracy": METRICS["accuracy"]})["accuracy"]


def accuracies(found: Mapping[tuple[str, str], list[KeptAnswer]]) -> None:
    """Each way of asking, and free reasoning less the two others on the same questions."""
    table, data = list[list[str]](), dict[str, Any]()
    for (dataset, mode), rows in found.items():
        accuracy = summarise(packed(rows)).figures["accuracy"]
        stated = np.mean([row.confidence is not None for row in rows])
        tokens, settled = np.mean([row.tokens for row in rows]), np.mean([row.settled is not None for row in rows])
        free = found.get((dataset, "free"))
        gap = None if free is None or mode not in ("bare", "forced") else paired(rows, free).difference
        told = "" if gap is None else text(gap, "+.3f")
        readable = "-" if mode == "bare" else f"{stated:.1%}"
        table.append([dataset, mode, str(len(rows)), text(accuracy), told, readable, f"{settled:.0%}", f"{tokens:.0f}"])
        data[f"{dataset} {mode}"] = {
            "n": len(rows), "accuracy": accuracy.as_dict(), "free_less_this": gap and gap.as_dict(),
            "readable": float(stated), "settled": float(settled), "tokens": float(tokens),
        }  # fmt: skip
    columns = ["questions", "asked", "n", "accuracy", "free less this", "readable", "settled", "tokens"]
    publish("any_model_accuracy", "How a stock model is asked", columns, table, data)


def worth(found: Mapping[tuple[str, str], list[KeptAnswer]]) -> None:
    """What each signal tells apart, as it is."""
    table, data = list[list[str]](), dict[str, Any]()
    for (dataset, mode), rows in found.items():
        for signal in SIGNALS if mode in ("free", "samples", "forced") else ():
            present = sum(row.signals.get(signal) is not None for row in rows)
            if not present:
                continue
            figures = summarise(packed(rows, signal)).figures
            table.append([dataset, mode, signal, f"{present}/{len(rows)}", *(text(figures[name]) for name in SHOWN)])
            data[f"{dataset} {mode} {signal}"] = {"n": present, **{name: figures[name].as_dict() for name in SHOWN}}
    columns = ["questions", "asked", "signal", "present", "AUC", "smECE", "SNR-gain", "Brier"]
    publish("any_model_signals", "What each sign of doubt is worth", columns, table, data)


def write_halves(found: Mapping[tuple[str, str], list[KeptAnswer]], out: Path) -> None:
    """OUT/DATASET-MODE-a.jsonl and -b.jsonl: graded rows with their signals, each question in one of them."""
    out.mkdir(parents=True, exist_ok=True)
    for (dataset, mode), rows in found.items():
        shuffled = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
        for name, part in zip("ab", (shuffled[: len(rows) // 2], shuffled[len(rows) // 2 :]), strict=True):
            lines = [{"problem": row.problem, "correct": row.correct, "signals": dict(row.signals)} for row in part]
            text = "".join(f"{json.dumps(line)}\n" for line in lines)
            (out / f"{dataset}-{mode}-{name}.jsonl").write_text(text)


def signals_of(rows: Sequence[KeptAnswer], names: Sequence[str]) -> Graded:
    """The rows as a calibrator takes them."""
    values = [[row.signals.get(name) for name in names] for row in rows]
    problem = np.arange(len(rows))
    return Graded(np.array(values, dtype=float), np.array([row.correct for row in rows]), problem)


def in_halves(rows: Sequence[KeptAnswer], names: Sequence[str]) -> tuple[Rows, Rows, list[str]]:
    """The stated confidence, and the calibrated one: each half of the questions by a map that was fitted, and whose
    signals were chosen, on the other half. Also what each map is made of."""
    half = np.random.default_rng(0).permutation(len(rows)) % FOLDS
    all_rows = signals_of(rows, names)
    made, used = np.full(len(rows), np.nan), list[str]()
    for fold in range(FOLDS):
        fitted = fit(all_rows.at(half != fold)).map
        made[half == fold] = fitted(all_rows.signals[half == fold])
        used.append(described(fitted, names))
    coding = number([row.problem for row in rows])
    right, problem = [row.correct for row in rows], [row.problem for row in rows]
    return packed(rows, names[0], coding), Rows.of(made, right, problem, coding=coding), used


def described(fitted: Map, names: Sequence[str]) -> str:
    """The names of the signals that a map reads."""
    return " + ".join(names[column] for column in trimmed(fitted)[1])


def chosen(found: Mapping[tuple[str, str], list[KeptAnswer]]) -> None:
    """Whether what one half of the questions teaches beats the stated confidence on the other half."""
    table, data = list[list[str]](), dict[str, Any]()
    for (dataset, mode), rows in found.items():
        names = [name for name in SIGNALS if any(row.signals.get(name) is not None for row in rows)]
        if mode not in ("free", "samples") or len(names) < 2:
            continue
        stated, made, used = in_halves(rows, names)
        gaps = compare(stated, made, metrics={name: METRICS[name] for name in ("auc", "smece", "brier")})
        for name, gap in gaps.items():
            figures = [text(gap.first), text(gap.second), text(gap.difference, "+.3f")]
            table.append([dataset, mode, METRICS[name].label, *figures, "; ".join(used)])
            data[f"{dataset} {mode} {name}"] = {
                "stated": gap.first.as_dict(), "calibrated": gap.second.as_dict(),
                "difference": gap.difference.as_dict(), "signals": used,
            }  # fmt: skip
    columns = ["questions", "asked", "figure", "stated", "calibrated on the other half", "difference", "made of"]
    publish("any_model_chosen", "Stated confidence beside a calibrated one", columns, table, data)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, metavar="RUNS", help="folder of finished runs to take rows from")
    parser.add_argument("--rows", type=Path, default=KEPT, help="folder of the kept rows")
    parser.add_argument("--halves", type=Path, metavar="OUT", help="folder to write two halves of each run to")
    options = parser.parse_args(arguments)
    if options.keep:
        keep(options.keep, options.rows)
    found = read(options.rows)
    if not found:
        parser.error(f"{options.rows} holds no rows: name a folder of runs with --keep")
    if options.halves:
        write_halves(found, options.halves)
    for table in (accuracies, worth, chosen):
        table(found)


if __name__ == "__main__":
    main()
