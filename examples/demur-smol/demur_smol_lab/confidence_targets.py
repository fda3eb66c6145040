"""Confidence targets: how likely each output was to be right, which is what its confidence should have stated.

One outcome says little about a chance. Many samples of a problem say more, but a model that meets a problem many times
learns it by heart. So most problems are sampled once, and a logistic regression says how often outputs like this one
were right: of the same family and size, and drawn with such probabilities. A wrong answer is mostly one that the model
itself gave little probability, which is something it can learn to read off its own states, also for new problems. All
families that stand for what is new count as one: how often each of them comes right is what nobody can know beforehand.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demur.core.answers import ContractName
from demur_smol_lab import first_attempts
from demur_smol_lab.problems import hard_negatives, unfamiliar
from demur_smol_lab.sampling import Sample
from demur_smol_lab.tokens import Vocabulary

PRIOR = 4.0
"""How many samples the success over all cells counts for, beside that of a cell."""

NEVER_SHOWN = unfamiliar.FAMILIES.keys() | hard_negatives.FAMILIES.keys()


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
    that say it, and whether the first attempt said the same."""

    sample: Sample
    part: int
    right: bool
    logprobs: Sequence[float]
    agreed: bool

    @property
    def cell(self) -> tuple[str, int]:
        problem = self.sample.problem
        return "unfamiliar" if problem.family in NEVER_SHOWN else problem.cell, self.part


def estimate(samples: Sequence[Sample], vocabulary: Vocabulary) -> list[ConfidenceTargets]:
    """The confidence targets of every well-formed output that writes down as many confidences as it has claims."""
    contracts: tuple[ContractName, ...] = ("response", "claims")
    found: list[ConfidenceTargets] = []
    for contract in contracts:
        chosen = [s for s in samples if s.contract == contract and _usable(s, vocabulary)]
        lines = [_lines(s, vocabulary) for s in chosen]
        attempts = [first_attempts.agreement(s) for s in chosen]
        answers = [
            _Outcome(s, -1, s.graded.valid, _said(s, at), agreed)
            for s, at, (agreed, _) in zip(chosen, lines, attempts, strict=True)
        ]
        wholes = _predict(answers)
        parts = [
            _Outcome(s, i, right, [p for p, line in zip(s.logprobs, at, strict=True) if line == i], agreed[i])
            for s, at, (_, agreed) in zip(chosen, lines, attempts, strict=True)
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
    features = np.column_stack((_log_odds(rates), [sum(row.logprobs) for row in rows], lowest, agreed))
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(features, right)
    return fitted.predict_proba(features)[:, 1].tolist()


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
