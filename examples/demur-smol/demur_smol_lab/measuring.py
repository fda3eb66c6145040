"""The tables: every figure of the evaluation for one model, beside a table that only knows family and size."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demur.core.metrics import METRICS, Estimate, Rows, compare, number, summarise
from demur.core.metrics.bootstrap import REPLICATES, weights
from demur.core.metrics.estimate import estimate
from demur.core.reader import read
from demur_smol_lab.critic import PLACES, Course
from demur_smol_lab.problems.histogram import chance_by
from demur_smol_lab.problems.reasons import is_true, names_step, parse_step
from demur_smol_lab.sampling import Sample

DOUBTFUL = 0.8
"""Claims below this confidence should say why."""


THRESHOLDS = (0.5, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Over the claims below DOUBTFUL: how many, how many different reasons, the commonest one's share, and the share
    of reasons that name a number of that very step. `checked` are all claims that are one calculation, `true` the share
    of these whose reason holds for the calculation as it is written."""

    claims: int
    distinct: int
    commonest: float
    naming: float
    checked: int
    true: float


def figures(samples: Sequence[Sample], confidences: Sequence[float | None] | None = None) -> dict[str, Any]:
    """The wire form of all figures, the share of well-formed outputs and the AUC within cells.

    `confidences` replace the stated ones (a lookup table). Violations count as wrong and have no confidence.
    """
    stated = [s.graded.confidence for s in samples] if confidences is None else list(confidences)
    valid = [s.graded.valid for s in samples]
    summary = summarise(Rows.of(stated, valid, [s.problem_id for s in samples])).as_dict()
    known = [(s.problem.cell, p, v) for s, p, v in zip(samples, stated, valid, strict=True) if p is not None]
    return {
        **summary,
        "format": sum(not s.graded.violation for s in samples) / len(samples),
        "auc_within_cells": auc_within(known).as_dict(),
        "thresholds": thresholds(stated, valid),
    }


def kinds(samples: Sequence[Sample]) -> dict[str, dict[str, float]]:
    """By family and size: how many problems, the share that came out right, and the mean stated confidence, in which an
    answer without one counts 0."""
    by_cell: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_cell[sample.problem.cell].append(sample)
    return {
        cell: {
            "problems": len(some),
            "right": sum(s.graded.valid for s in some) / len(some),
            "stated": sum(s.graded.confidence or 0.0 for s in some) / len(some),
        }
        for cell, some in sorted(by_cell.items())
    }


def thresholds(stated: Sequence[float | None], valid: Sequence[bool]) -> list[dict[str, float | None]]:
    """At each of THRESHOLDS: the share of questions that are answered, the share of right ones among these, and the
    share of all right answers that are given."""
    found = list[dict[str, float | None]]()
    for t in THRESHOLDS:
        given = [ok for p, ok in zip(stated, valid, strict=True) if p is not None and p >= t]
        right = sum(given)
        found.append(
            {
                "risk_threshold": t,
                "answered": _share(len(given), len(stated)),
                "right": _share(right, len(given)),
                "given": _share(right, sum(valid)),
            }
        )
    return found


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def claim_figures(samples: Sequence[Sample]) -> dict[str, Any]:
    """The same figures over single claims, whose truth is exact; claims of one problem are resampled together."""
    stepped = [s for s in samples if s.problem.steps]
    confidences = [p for s in stepped for p, _ in s.graded.claims]
    verdicts = [right for s in stepped for _, right in s.graded.claims]
    names = [s.problem_id for s in stepped for _ in s.graded.claims]
    summary = summarise(Rows.of(confidences, verdicts, names)).as_dict()
    return {**summary, "thresholds": thresholds(confidences, verdicts)}


def lookup(known: Sequence[Sample], samples: Sequence[Sample]) -> list[float]:
    """The baseline that only knows how often `known` answers to problems of that family and size came out right."""
    table = chance_by((s.problem.cell, s.graded.valid) for s in known)
    mean = sum(s.graded.valid for s in known) / len(known)
    return [table.get(s.problem.cell, mean) for s in samples]


def lead(samples: Sequence[Sample], others: Sequence[float]) -> dict[str, Any] | None:
    """The AUC of the stated confidences less that of `others`, over the samples that state one, with an interval from
    the same problems drawn for both."""
    known = [(s, other) for s, other in zip(samples, others, strict=True) if s.graded.confidence is not None]
    valid, names = [s.graded.valid for s, _ in known], [s.problem_id for s, _ in known]
    coding = number(names)
    ours = Rows.of([s.graded.confidence for s, _ in known], valid, names, coding=coding)
    theirs = Rows.of([other for _, other in known], valid, names, coding=coding)
    found = compare(theirs, ours, metrics={"auc": METRICS["auc"]})["auc"].difference.as_dict()
    return None if found is None else dict(found)


def along(samples: Sequence[Sample], courses: Sequence[Course | None]) -> dict[str, Any]:
    """The critic along outputs, without those that violate the form: at each of PLACES its AUC, its smECE and its mean
    value, and AUC and smECE of the means that the page shows; then the mean distance from one token's value to the
    next, and the share of values that are 0 or 1."""
    known = [(s, course) for s, course in zip(samples, courses, strict=True) if course is not None]
    if not known:
        return {"places": [], "step": None, "clipped": None}
    valid, names = [s.graded.valid for s, _ in known], [s.problem_id for s, _ in known]
    places = list[dict[str, Any]]()
    for at, place in enumerate(PLACES):
        values = [course.places[at] for _, course in known]
        found = summarise(Rows.of(values, valid, names)).as_dict()
        shown = summarise(Rows.of([course.shown[at] for _, course in known], valid, names)).as_dict()
        mean = sum(values) / len(values)
        both = {"shown_auc": shown["auc"], "shown_smece": shown["smece"]}
        places.append({"place": place, "auc": found["auc"], "smece": found["smece"], "mean": mean, **both})
    step, clipped = (sum(getattr(course, what) for _, course in known) / len(known) for what in ("step", "clipped"))
    return {"places": places, "step": step, "clipped": clipped}


def auc_within(rows: Sequence[tuple[str, float, bool]]) -> Estimate:
    """AUC over pairs of (cell, confidence, right) rows from the same cell only, ties counting half, with an interval
    from rows drawn anew. Without a value where no cell has both a right and a wrong row."""
    drawn = weights(len(rows), REPLICATES, seed=0)
    confidence, right = np.array([p for _, p, _ in rows]), np.array([v for *_, v in rows], dtype=bool)
    cells: Mapping[str, list[int]] = defaultdict(list)
    for i, (cell, _, _) in enumerate(rows):
        cells[cell].append(i)
    ahead, pairs = np.zeros(1 + REPLICATES), np.zeros(1 + REPLICATES)
    for cell in map(np.array, cells.values()):
        good, bad = cell[right[cell]], cell[~right[cell]]
        order = np.sign(confidence[good][:, None] - confidence[bad]) / 2 + 0.5
        for_good, for_bad = (np.concatenate((np.ones((1, len(some))), drawn[:, some])) for some in (good, bad))
        ahead += ((for_good @ order) * for_bad).sum(1)
        pairs += for_good.sum(1) * for_bad.sum(1)
    if not pairs[0]:
        return Estimate(None, reason="no cell has both a right and a wrong row")
    found = np.divide(ahead, pairs, out=np.full_like(ahead, np.nan), where=pairs > 0)
    return estimate(found[0], found[0], found[1:], bounds=(0.0, 1.0))


def doubt(samples: Sequence[Sample]) -> Doubt:
    """What the model says about the claims it doubts. Claims that are no calculation name nothing."""
    said: dict[str, int] = defaultdict(int)
    naming = checked = true = 0
    for step, confidence, reason in _claims(samples):
        if parsed := parse_step(step):
            checked += 1
            true += is_true(reason, parsed[0])
        if confidence < DOUBTFUL:
            said[reason] += 1
            naming += parsed is not None and names_step(reason, parsed[0])
    count = sum(said.values())
    return Doubt(
        count,
        len(said),
        max(said.values(), default=0) / max(1, count),
        naming / max(1, count),
        checked,
        true / max(1, checked),
    )


def _claims(samples: Sequence[Sample]) -> list[tuple[str, float, str]]:
    return [
        (claim.text, claim.confidence or 0.0, claim.explanation)
        for sample in samples
        if sample.problem.steps and not sample.graded.violation
        for claim in read(sample.text, "claims", "strict").claims
    ]


LEAD, ALONG, KINDS = "auc_above_lookup", "along", "kinds"
AT_PLACES = {
    "auc": "AUC",
    "smece": "smECE",
    "mean": "mean value",
    "shown_auc": "AUC as shown",
    "shown_smece": "smECE as shown",
}
COLUMNS = {
    "format": "format",
    "accuracy": "accuracy",
    "snr_gain": "SNR-gain",
    "auc": "AUC",
    "auc_within_cells": "AUC within cells",
    "brier": "Brier",
    "nll": "NLL",
    "smece": "smECE",
    "abstention_accuracy": "abstention accuracy",
}


def markdown(models: Mapping[str, Mapping[str, Any]]) -> str:
    """One row a model, intervals in brackets, then what each threshold comes to."""
    head = f"| model | {' | '.join(COLUMNS.values())} |\n|{'---|' * (len(COLUMNS) + 1)}\n"
    rows = (f"| {name} | {' | '.join(_cell(found.get(key)) for key in COLUMNS)} |\n" for name, found in models.items())
    leads = (
        f"\n{name}: AUC {_cell(found[LEAD])} above the lookup table's on the same outputs.\n"
        for name, found in models.items()
        if found.get(LEAD)
    )
    courses = "".join(_along(name, found[ALONG]) for name, found in models.items() if found.get(ALONG))
    by_kind = "".join(_kinds(name, found[KINDS]) for name, found in models.items() if found.get(KINDS))
    return head + "".join(rows) + "".join(leads) + _given(models) + courses + by_kind


def _kinds(name: str, found: Mapping[str, Mapping[str, float]]) -> str:
    """What came right in each family and size, beside what was stated."""
    head = f"\n| {name}, family/size | problems | right | stated |\n|---|---|---|---|\n"
    return head + "".join(
        f"| {cell} | {of['problems']} | {of['right']:.2f} | {of['stated']:.2f} |\n" for cell, of in found.items()
    )


def _along(name: str, found: Mapping[str, Any]) -> str:
    """The critic's values at each place of the outputs."""
    if not found["places"]:
        return ""
    head = f"\n| {name}, tokens written | {' | '.join(AT_PLACES.values())} |\n|{'---|' * (1 + len(AT_PLACES))}\n"
    rows = "".join(
        f"| {one['place']:.0%} | {' | '.join(_cell(one[what]) for what in AT_PLACES)} |\n" for one in found["places"]
    )
    return f"{head}{rows}\nFrom token to token {found['step']:.3f}; {found['clipped']:.1%} of the values are 0 or 1.\n"


def _given(models: Mapping[str, Mapping[str, Any]]) -> str:
    """At each threshold: of all questions the share answered, of these the right ones, of all right answers the share
    given."""
    known = {name: found["thresholds"] for name, found in models.items() if found.get("thresholds")}
    if not known:
        return ""
    head = "".join(f" answered at {t} | right of these | right answers given |" for t in THRESHOLDS)
    rows = "".join(f"| {name} |{''.join(map(_shares, found))}\n" for name, found in known.items())
    return f"\n| model |{head}\n|{'---|' * (1 + 3 * len(THRESHOLDS))}\n{rows}"


def _shares(found: Mapping[str, float | None]) -> str:
    return "".join(" - |" if found[key] is None else f" {found[key]:.0%} |" for key in ("answered", "right", "given"))


def _cell(figure: Any) -> str:
    if isinstance(figure, Mapping):
        value, low, high = (figure.get(key) for key in ("value", "low", "high"))
        if value is None:
            return "-"
        return f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"
    return "-" if figure is None else f"{figure:.3f}"
