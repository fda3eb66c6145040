"""What the metrics are computed from: a confidence, a verdict and a problem for every row."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Missing = Literal["abstain", "skip"]


class RowsError(ValueError):
    """The rows cannot be scored; the message names the field and the first row at fault."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Validated rows. Build them with `Rows.of`.

    `confidence` is (n,) in [0, 1], NaN where a row has none. `correct` is (n,). `problem` is (n,), codes in
    [0, problems): the rows of one problem are resampled together. `problems` may exceed the codes in use, so that two
    runs over the same questions can share one coding (`demur.core.metrics.compare`).
    """

    confidence: Floats
    correct: NDArray[np.bool_]
    problem: NDArray[np.int64]
    problems: int

    @classmethod
    def of(
        cls,
        confidence: Sequence[float | None] | ArrayLike,
        correct: ArrayLike,
        problem: Sequence[Hashable] | None = None,
        *,
        coding: Mapping[Hashable, int] | None = None,
    ) -> "Rows":
        """Check and pack rows. None or NaN means: no confidence. Without `problem` every row is its own problem.

        `coding` numbers the problems of several runs alike, so that they are resampled alike. Raises RowsError for a
        confidence outside [0, 1], a verdict that is not 0 or 1, unequal lengths, or a problem outside the coding.
        """
        p = _confidences(confidence)
        v = _verdicts(correct)
        if len(p) != len(v):
            raise RowsError(f"confidence has {len(p)} rows and correct has {len(v)}")
        if problem is None:
            return cls(p, v, np.arange(len(p)), len(p))
        if len(problem) != len(p):
            raise RowsError(f"confidence has {len(p)} rows and problem has {len(problem)}")
        codes = coding if coding is not None else number(problem)
        unknown = next((name for name in problem if name not in codes), None)
        if unknown is not None:
            raise RowsError(f"problem {unknown!r} is not in the coding")
        coded = np.fromiter((codes[name] for name in problem), dtype=np.int64, count=len(problem))
        return cls(p, v, coded, len(codes))

    @property
    def missing(self) -> int:
        """How many rows have no confidence."""
        return int(np.isnan(self.confidence).sum())

    def __len__(self) -> int:
        return len(self.confidence)

    def treat(self, missing: Missing) -> "Rows":
        """Apply the caller's choice: `abstain` gives rows without a confidence p = 0, `skip` leaves them without."""
        if missing == "skip":
            return self
        return replace(self, confidence=np.nan_to_num(self.confidence, nan=0.0))


def number(problems: Iterable[Hashable]) -> dict[Hashable, int]:
    """Number the problems 0, 1, ... in the order they first appear."""
    return {name: code for code, name in enumerate(dict.fromkeys(problems))}


def _confidences(values: Sequence[float | None] | ArrayLike) -> Floats:
    try:
        p = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise RowsError(f"confidence holds something that is no number: {error}") from None
    if p.ndim != 1:
        raise RowsError(f"confidence must be one number a row; its shape is {p.shape}")
    bad = np.flatnonzero((p < 0) | (p > 1))
    if len(bad):
        raise RowsError(f"confidence of row {bad[0]} is {p[bad[0]]:g}; it must be in [0, 1]")
    return p + 0.0  # -0.0 becomes 0.0: levels are told apart by their bits


def _verdicts(values: ArrayLike) -> NDArray[np.bool_]:
    v = np.asarray(values)
    if v.ndim != 1:
        raise RowsError(f"correct must be one verdict a row; its shape is {v.shape}")
    if v.dtype == np.bool_:
        return v
    bad = np.flatnonzero((v != 0) & (v != 1))
    if len(bad):
        raise RowsError(f"correct of row {bad[0]} is {v[bad[0]]!r}; it must be true or false")
    return v.astype(np.bool_)
