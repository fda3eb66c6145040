"""Test-time scaling from one set of samples: accuracy over k for every way to choose; chosen answers as rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from demur.core.metrics import Floats, interval
from demur.core.metrics.bootstrap import REPLICATES, weights
from demur.core.metrics.curves import Band
from demur.core.scaling import Problem, scaling_curves
from demur.core.selection import Sample, SelectionRule, select
from demur.evaluation.grade import Graded
from demur.evaluation.rows import Row

NAMES = {
    "mean": "Mean@k",
    "best": "Best@k",
    "majority": "Majority@k",
    "maxconf": "Maxconf@k",
    "majconf": "Majconf@k",
}


@dataclass(frozen=True, slots=True)
class Scaling:
    """Curves over `k`, by confidence source ("verbalized", "critic") and name. `left_out` problems lack a sample or a
    grade. `exact` is False where subsets were drawn at random."""

    k: tuple[int, ...]
    curves: Mapping[str, Mapping[str, Band]]
    problems: int
    left_out: int
    exact: bool

    def as_dict(self) -> dict[str, object]:
        """For `metrics.json`: value, low and high for each k."""
        curves = {
            source: {
                name: [dict(zip(("value", "low", "high"), point, strict=True)) for point in _points(band)]
                for name, band in named.items()
            }
            for source, named in self.curves.items()
        }
        return {"k": list(self.k), "problems": self.problems, "left_out": self.left_out, "curves": curves}


def scale(graded: Sequence[Graded], *, seed: int = 0) -> Scaling | None:
    """The curves of a run with several samples a question; None for a run with one."""
    problems = _by_problem(graded)
    n = max((len(samples) for samples in problems.values()), default=0)
    if n < 2 or any(one.key.risk_threshold is not None for one in graded):
        return None
    whole = [samples for samples in problems.values() if len(samples) == n and _all_graded(samples)]
    if not whole:
        return None
    k = tuple(sorted({2**power for power in range(n.bit_length()) if 2**power <= n} | {n}))
    sources: dict[str, Callable[[Graded], float | None]] = {"verbalized": lambda one: one.output.stated}
    if any(one.output.confidence != one.output.stated for one in graded):
        sources[_deciding(graded)] = lambda one: one.output.confidence
    curves: dict[str, dict[str, Band]] = {}
    exact = True
    for source, confidence in sources.items():
        points = scaling_curves([_problem(samples, confidence) for samples in whole], k, seed=seed)
        exact = exact and all(point.exact for point in points)
        values = {name: np.stack([point.figures[name] for point in points]) for name in NAMES}
        curves[source] = {NAMES[name]: _band(np.array(k, dtype=np.float64), values[name], seed) for name in NAMES}
    return Scaling(k, curves, len(whole), len(problems) - len(whole), exact)


def _deciding(graded: Sequence[Graded]) -> str:
    """What gave the confidence where the output did not; runs of earlier versions do not say, and knew one other."""
    named = graded[0].output.source
    return "critic" if named == "verbalized" else named


def chosen_rows(graded: Sequence[Graded], rule: SelectionRule) -> list[Row]:
    """One row a problem: the sample that the rule chooses, with the confidence that the rule gives it."""
    rows: list[Row] = []
    for problem, samples in _by_problem(graded).items():
        selection = select([_vote(one) for one in samples], rule)
        correct: bool | None = False
        if selection.sample is not None:
            chosen = selection.sample.id
            correct = next(one.verdict.correct for one in samples if one.key.sample == chosen)
        rows.append(Row(problem, 0, selection.confidence, correct, state=selection.state))
    return rows


def _by_problem(graded: Sequence[Graded]) -> dict[str, list[Graded]]:
    problems: dict[str, list[Graded]] = {}
    for one in graded:
        problems.setdefault(one.key.problem, []).append(one)
    return problems


def _all_graded(samples: Sequence[Graded]) -> bool:
    return all(one.verdict.correct is not None for one in samples)


def _problem(samples: Sequence[Graded], confidence: Callable[[Graded], float | None]) -> Problem:
    keys = [one.group for one in samples]
    return Problem(keys, [confidence(one) for one in samples], [bool(one.verdict.correct) for one in samples])


def _vote(one: Graded) -> Sample:
    return Sample(one.key.sample, one.group, one.output.answer, one.output.confidence, one.output.state)


def _band(k: Floats, values: Floats, seed: int) -> Band:
    """Mean over problems at each k with its interval; `values` is (K, problems)."""
    drawn = weights(values.shape[1], REPLICATES, seed)
    mean = values.mean(axis=1)
    low, high = interval(mean, mean, drawn @ values.T / values.shape[1])
    return Band(k, mean, low, high)


def _points(band: Band) -> list[list[float]]:
    return np.column_stack([band.value, band.low, band.high]).tolist()
