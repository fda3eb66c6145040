"""Figures over a million rows: ours against relplot and scikit-learn, in alternation."""

import time
import warnings
from collections.abc import Callable

import numpy as np
import relplot
from bench.report import Spread, publish
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from demur.core.metrics import METRICS, Rows, resample, scores, smece, summarise, tally
from demur.core.metrics.curves import reliability

ROWS = 1_000_000
DIAGRAM_ROWS = 100_000
RUNS = 5
BAND_REPLICATES = 200

Work = Callable[[], object]


def forecasts(n: int, decimals: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Over-confident forecasts: every confidence distinct, or rounded as models write them."""
    rng = np.random.default_rng(0)
    p = rng.random(n)
    v = rng.random(n) < p**1.5
    return (p if decimals is None else np.round(p, decimals)), v


def alternate(works: dict[str, Work], runs: int) -> tuple[dict[str, Spread], dict[str, object]]:
    """CPU seconds of each, one run of each in turn so that a busy moment meets all alike; and what each returned."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    values = {name: work() for name, work in works.items()}
    for _ in range(runs):
        for name, work in works.items():
            start = time.process_time()
            work()
            taken[name].append(time.process_time() - start)
    return {name: Spread.of(times) for name, times in taken.items()}, values


def diagram(p: np.ndarray, v: np.ndarray) -> float:
    """A reliability diagram with its band, from bare arrays."""
    rows = Rows.of(p, v)
    return reliability(tally(rows), resample(rows, replicates=BAND_REPLICATES)).error


def contests(p: np.ndarray, v: np.ndarray) -> dict[str, dict[str, Work]]:
    """What is compared, each from bare arrays: validation and counting are part of our time."""
    y, clipped = v.astype(float), np.clip(p, scores.NLL_CLIP, 1 - scores.NLL_CLIP)
    return {
        "smECE": {"demur": lambda: smece(tally(Rows.of(p, v))), "relplot": lambda: relplot.smECE(p, y)},
        "AUC": {"demur": lambda: scores.auc(tally(Rows.of(p, v))), "scikit-learn": lambda: roc_auc_score(v, p)},
        "Brier": {"demur": lambda: scores.brier(tally(Rows.of(p, v))), "scikit-learn": lambda: brier_score_loss(v, p)},
        "NLL": {"demur": lambda: scores.nll(tally(Rows.of(p, v))), "scikit-learn": lambda: log_loss(v, clipped)},
    }


def ours(p: np.ndarray, v: np.ndarray) -> dict[str, Work]:
    """What the others have no counterpart to."""

    def figures() -> None:
        counted = tally(Rows.of(p, v))
        for metric in METRICS.values():
            metric.compute(counted)

    return {
        f"all {len(METRICS)} figures": figures,
        "all figures, 1,000 resamples": lambda: summarise(Rows.of(p, v)),
        f"diagram, band of {BAND_REPLICATES} resamples": lambda: diagram(p, v),
    }


def measure(p: np.ndarray, v: np.ndarray) -> list[dict[str, object]]:
    """One line for each contest and for each thing only we do."""
    lines: list[dict[str, object]] = []
    for name, works in contests(p, v).items():
        taken, values = alternate(works, RUNS)
        other = next(who for who in works if who != "demur")
        difference = abs(float(values["demur"]) - float(values[other]))  # type: ignore[arg-type]
        lines.append(line(name, taken["demur"], other, taken[other], difference))
    for name, work in ours(p, v).items():
        taken, _ = alternate({"demur": work}, RUNS)
        lines.append(line(name, taken["demur"]))
    return lines


def measure_diagram() -> dict[str, object]:
    """relplot's diagram takes minutes at a million rows, so both draw a tenth of them, once more than needed."""
    p, v = forecasts(DIAGRAM_ROWS, None)
    other = lambda: relplot.prepare_rel_diagram(p, v.astype(float), num_bootstrap=BAND_REPLICATES)["ce"]  # noqa: E731
    taken, values = alternate({"demur": lambda: diagram(p, v), "relplot": other}, 1)
    difference = abs(float(values["demur"]) - float(values["relplot"]))  # type: ignore[arg-type]
    return line(f"diagram with band, {DIAGRAM_ROWS:,} rows", taken["demur"], "relplot", taken["relplot"], difference)


def line(
    name: str, ours: Spread, other: str = "", theirs: Spread | None = None, difference: float | None = None
) -> dict[str, object]:
    return {"what": name, "demur": ours, "other": other, "theirs": theirs, "difference": difference}


def shown(rows: str, entry: dict[str, object]) -> list[str]:
    mine, theirs = entry["demur"], entry["theirs"]
    assert isinstance(mine, Spread)
    if not isinstance(theirs, Spread):
        return [rows, str(entry["what"]), mine.text(), "", "", "", ""]
    ratio = f"{theirs.median / mine.median:.1f}"
    return [
        rows,
        str(entry["what"]),
        mine.text(),
        str(entry["other"]),
        theirs.text(),
        ratio,
        f"{entry['difference']:.0e}",
    ]


def plain(entry: dict[str, object]) -> dict[str, object]:
    return {name: part.json() if isinstance(part, Spread) else part for name, part in entry.items()}


def main() -> None:
    warnings.simplefilter("ignore")
    kinds = {"distinct": None, "two decimals": 2}
    results = {kind: measure(*forecasts(ROWS, decimals)) for kind, decimals in kinds.items()}
    results["distinct"].append(measure_diagram())
    table = [shown(kind, entry) for kind, lines in results.items() for entry in lines]
    columns = ["confidences", "figure", "demur, CPU s", "other", "its CPU s", "times faster", "difference"]
    title = f"Figures over {ROWS:,} rows, from bare arrays: median (min to max) of {RUNS}"
    publish("metrics", title, columns, table, {kind: [plain(one) for one in lines] for kind, lines in results.items()})


if __name__ == "__main__":
    main()
