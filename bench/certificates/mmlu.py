"""Certificates on answers of two models to MMLU-Pro: drawn from the file, before and after a map, on another kind."""

import csv
from dataclasses import asdict
from pathlib import Path

import numpy as np
from bench.certificates.cells import RATES, SEED, Cell, Floats, add, called, cell, fitted
from bench.report import publish
from numpy.typing import NDArray

from demur.calibration.fit import Graded, fit
from demur.core.calibration.certified_thresholds import DELTA, hypotheses
from demur.core.calibration.folds import split
from demur.core.calibration.populations import Truth
from demur.core.metrics import METRICS, Estimate, Rows, compare

MMLU_RATES = {"gpt-4.1": (0.05, 0.1, 0.2), "Qwen3-4B": (0.3, 0.35, 0.4)}
MMLU_COLUMNS = ("verbal_numerical_confidence", "logit_perplexity_confidence")


def mmlu(path: Path) -> tuple[str, Graded]:
    """A file of MMLU-Pro answers with stated and token confidences, and the model's name."""
    name = path.stem.removeprefix("mmlu_pro_")
    with path.open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    signals = np.array([[float(r[c]) if r[c] else np.nan for c in MMLU_COLUMNS] for r in records])
    correct = np.array([r["correct_answer"] == r["extracted_answer"] for r in records])
    return name, Graded(signals, correct, np.arange(len(records)))


def kinds_of(path: Path) -> NDArray[np.str_]:
    """The category of each row of such a file."""
    with path.open(encoding="utf-8", newline="") as file:
        return np.array([record["category"] for record in csv.DictReader(file)])


def other_kinds(path: Path, sets: int, n: int = 1000) -> None:
    """The promise broken on purpose: certified on every category but one, asked about that one.

    The stated confidence alone, at the middle error rate of the file.
    """
    name, whole = mmlu(path)
    kinds, a = kinds_of(path), MMLU_RATES.get(name, RATES)[1]
    rng = np.random.default_rng([SEED, n, 3])
    lines: list[list[str]] = []
    data: list[dict[str, object]] = []
    for kind in np.unique(kinds).tolist():
        here, elsewhere = whole.at(kinds == kind), whole.at(kinds != kind)
        drawn = rng.integers(0, len(elsewhere), (sets, n))
        tests = hypotheses(elsewhere.signals[drawn, 0], ~elsewhere.correct[drawn], a)
        last = tests.last_rejected(DELTA)
        t = np.take_along_axis(tests.threshold, np.maximum(last, 0)[:, None], axis=1)[last >= 0, 0]
        error = [
            Truth.of(part.signals[:, 0], (~part.correct).astype(np.float64)).at(t)[0] for part in (elsewhere, here)
        ]
        kept = [float((risk <= a).mean()) if len(t) else None for risk in error]
        mean = [float(np.nanmean(risk)) if len(t) else None for risk in error]
        data.append({"model": name, "kind": kind, "a": a, "certified": len(t) / sets, "kept": kept, "error": mean})
        lines.append([kind, f"{100 * len(t) / sets:.0f}", *(shown(part) for part in (*kept, *mean))])
    title = f"{name}: certified at a = {a:g} on {n} answers of all kinds but one, {sets} sets, in %"
    columns = ["asked about", "certified", "kept elsewhere", "kept here", "error elsewhere", "error here"]
    publish(f"guarantee_kinds_{name}", title, columns, lines, data)


def shown(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def mmlu_of(path: Path, n: int, sets: int) -> list[Cell]:
    """Sets drawn with replacement from the whole file, whose error rates are then known."""
    name, whole = mmlu(path)
    rates, error = MMLU_RATES.get(name, RATES), (~whole.correct).astype(np.float64)
    rng = np.random.default_rng([SEED, n, 2])
    raw = Truth.of(whole.signals[:, 0], error)
    totals: dict[tuple[str, float], Floats] = {}
    for number in range(sets):
        # A row drawn twice is two grades here: the file is the population.
        drawn = rng.integers(0, len(whole), n)
        for width in (1, 2):
            rows = Graded(whole.signals[drawn, :width], whole.correct[drawn], np.arange(n))
            if width == 1:
                add(totals, "thresholds", rows.signals[:, 0], rows, raw, rates)
            confidence, certifying, served = fitted(rows, whole.signals[:, :width], "split", number)
            add(totals, called("split", width), confidence, certifying, Truth.of(served, error), rates)
    return [cell(name, method, n, a, sets, of[:3], of[3] / sets) for (method, a), of in totals.items()]


def before_after(path: Path, n: int = 1000) -> None:
    """One map from n graded answers of a file, judged on all the others."""
    name, whole = mmlu(path)
    taken = split(whole.problem, n / len(whole), SEED)
    rest = whole.at(~taken)
    chosen = fit(whole.at(taken)).map
    metrics = {key: METRICS[key] for key in ("auc", "smece", "brier", "snr_gain")}
    before, after = (Rows.of(p, rest.correct) for p in (rest.signals[:, 0], chosen(rest.signals)))
    gaps = compare(before, after, metrics=metrics)
    lines = [
        [metrics[key].label, *(figure(one) for one in (gap.first, gap.second, gap.difference))]
        for key, gap in gaps.items()
    ]
    title = f"{name} on MMLU-Pro: a map ({type(chosen).__name__}) from {n} answers, judged on the other {len(rest):,}"
    data = {key: asdict(gap) for key, gap in gaps.items()}
    publish(f"guarantee_before_after_{name}", title, ["figure", "before", "after", "difference"], lines, data)


def figure(of: Estimate) -> str:
    return f"{of.value:.3f} ({of.low:.3f} to {of.high:.3f})"
