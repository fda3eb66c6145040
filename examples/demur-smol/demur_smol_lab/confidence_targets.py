"""Confidence targets: how likely each output was to be right, which is what its confidence should have stated.

One outcome says little about a chance. Many samples of a problem say more, but a model that meets a problem many times
learns it by heart. So most problems are sampled once, and a logistic regression says how often outputs like this one
were right: of the same family and size, drawn with such probabilities, and as often the answer to the same problem in
other words. A wrong answer is mostly one that the model
itself gave little probability, which is something it can learn to read off its own states, also for new problems. All
families that stand for what is new count as one: how often each of them comes right is what nobody can know beforehand.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demur.core.answers import ContractName
from demur_smol_lab import first_attempts
from demur_smol_lab.problems import adjacent, hard_negatives, unfamiliar
from demur_smol_lab.sampling import Sample
from demur_smol_lab.tokens import Vocabulary

PRIOR = 4.0
"""How many samples the success over all cells counts for, beside that of a cell."""

NEVER_SHOWN = (
    unfamiliar.FAMILIES.keys()
    | hard_negatives.FAMILIES.keys()
    | {name for name, family in adjacent.FAMILIES.items() if family.kind == adjacent.DOUBTED}
)


@dataclass(frozen=True, slots=True)
class ConfidenceTargets:
    """A well-formed output, its chance to be right, and that of each of its claims (none: response contract)."""

    sample: Sample
    whole: float
    claims: tuple[float, ...]

    @property
    def stated(self) -> tuple[float, ...]:
        """The chances its confidences stand for, in order."""
        return self.claims or (self.whole,)

    @property
    def outcomes(self) -> tuple[float, ...]:
        """What became of what its confidences stand for: 1 right, 0 wrong."""
        graded = self.sample.graded
        return tuple(float(right) for _, right in graded.claims) or (float(graded.valid),)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One outcome to be predicted: of the whole answer (part -1) or of a claim, and the log-probabilities of the tokens
    that say it, whether the first attempt said the same, and the share of the other answers to the same problem, in all
    its wordings, that do: that take the same step, for a claim."""

    sample: Sample
    part: int
    right: bool
    logprobs: Sequence[float]
    agreed: bool
    shared: float

    @property
    def cell(self) -> tuple[str, int]:
        problem = self.sample.problem
        return "unfamiliar" if problem.family in NEVER_SHOWN else problem.cell, self.part


def estimate(samples: Sequence[Sample], vocabulary: Vocabulary, *, consistent: bool = False) -> list[ConfidenceTargets]:
    """The confidence targets of every well-formed output that writes down as many confidences as it has claims. Where
    they are `consistent`, the same answer to the same problem gets the same one in all wordings."""
    contracts: tuple[ContractName, ...] = ("response", "claims")
    found: list[ConfidenceTargets] = []
    for contract in contracts:
        chosen = [s for s in samples if s.contract == contract and _usable(s, vocabulary)]
        lines = [_lines(s, vocabulary) for s in chosen]
        attempts = [first_attempts.agreement(s) for s in chosen]
        said, steps = [first_attempts.answer(s) for s in chosen], [first_attempts.working(s) for s in chosen]
        shares, stepped = _shares(chosen, [[answer] for answer in said]), _shares(chosen, steps)
        answers = [
            _Outcome(s, -1, s.graded.valid, _said(s, at), agreed, shared)
            for s, at, (agreed, _), (shared,) in zip(chosen, lines, attempts, shares, strict=True)
        ]
        wholes = _predict(answers)
        if consistent:
            wholes = _levelled(wholes, [(*s.problem.key, answer) for s, answer in zip(chosen, said, strict=True)])
        parts = [
            _Outcome(
                s, i, right, [p for p, line in zip(s.logprobs, at, strict=True) if line == i], agreed[i], shared[i]
            )
            for s, at, (_, agreed), shared in zip(chosen, lines, attempts, stepped, strict=True)
            for i, (_, right) in enumerate(s.graded.claims)
        ]
        claims = iter(_predict(parts))
        found += [
            ConfidenceTargets(s, whole, tuple(next(claims) for _ in s.graded.claims))
            for s, whole in zip(chosen, wholes, strict=True)
        ]
    return found


def _usable(sample: Sample, vocabulary: Vocabulary) -> bool:
    wanted = len(sample.graded.claims) or 1
    return not sample.graded.violation and len(vocabulary.confidences(sample.ids)) == wanted


def _lines(sample: Sample, vocabulary: Vocabulary) -> list[int]:
    """The line each token stands in, counted from the end of the first attempt, whose own lines are negative."""
    first = first_attempts.count_lines(sample)
    return [line - first for line in vocabulary.lines(sample.ids)]


def _said(sample: Sample, lines: Sequence[int]) -> list[float]:
    """Log-probabilities of what was said before any confidence, the first attempt left out: all lines but the last one,
    or the working, which has one line a claim."""
    end = len(sample.graded.claims) or lines[-1]
    return [p for p, line in zip(sample.logprobs, lines, strict=True) if 0 <= line < end]


def _predict(rows: Sequence[_Outcome]) -> list[float]:
    """The probability of each outcome by regression on all of them."""
    right = np.array([row.right for row in rows])
    if len(set(right.tolist())) < 2:
        return right.astype(float).tolist()
    rates = _cell_rates(rows, float(right.mean()))
    lowest = [min(row.logprobs, default=0.0) for row in rows]
    agreed = [row.agreed for row in rows]
    shared = [row.shared for row in rows]
    features = np.column_stack((_log_odds(rates), [sum(row.logprobs) for row in rows], lowest, agreed, shared))
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(features, right)
    return fitted.predict_proba(features)[:, 1].tolist()


def _shares(samples: Sequence[Sample], said: Sequence[Sequence[str]]) -> list[list[float]]:
    """For everything that each sample said, the share of the others of its problem, whatever the wording, that said it
    too; a half where there is no other."""
    keys = [s.problem.key for s in samples]
    asked, alike = Counter(keys), Counter((key, each) for key, own in zip(keys, said, strict=True) for each in {*own})
    return [
        [(alike[key, each] - 1) / (asked[key] - 1) if asked[key] > 1 else 0.5 for each in own]
        for key, own in zip(keys, said, strict=True)
    ]


def _levelled(chances: Sequence[float], groups: Sequence[tuple[str, ...]]) -> list[float]:
    """The mean over each group."""
    found: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for chance, group in zip(chances, groups, strict=True):
        found[group].append(chance)
    return [float(np.mean(found[group])) for group in groups]


def _log_odds(chances: np.ndarray) -> np.ndarray:
    return np.log(chances / (1 - chances))


def _cell_rates(rows: Sequence[_Outcome], mean: float) -> np.ndarray:
    """For each row the success of its family and size, shrunk towards `mean`: one rate for a whole cell.

    Were each problem's own outcomes left out, a right row's rate would lie below that of a wrong one of the same cell,
    which is what tells them apart turned upside down.
    """
    count = Counter(row.cell for row in rows)
    hits = Counter(row.cell for row in rows if row.right)
    return np.array([(hits[row.cell] + PRIOR * mean) / (count[row.cell] + PRIOR) for row in rows])
