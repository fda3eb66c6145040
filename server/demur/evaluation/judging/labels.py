"""How far the verdicts agree with a few human labels."""

from collections.abc import Iterable
from dataclasses import dataclass

from demur.evaluation.rows import Row


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a judge agrees with people over the `rows` that both judged: the share in [0, 1] they agree on
    (`accuracy`), and Cohen's kappa in [-1, 1]; None with the `reason` where undefined."""

    rows: int
    unmatched: int
    accuracy: float | None
    kappa: float | None
    reason: str | None = None


def agreement(verdicts: Iterable[Row], labels: Iterable[Row]) -> Agreement:
    """Compare verdicts with labels for the same problem, sample and claim. `unmatched` labels have no verdict."""
    given = {(row.problem, row.sample, row.claim): row.correct for row in verdicts if row.correct is not None}
    people = [((row.problem, row.sample, row.claim), row.correct) for row in labels if row.correct is not None]
    pairs = [(given[key], label) for key, label in people if key in given]
    unmatched = len(people) - len(pairs)
    if not pairs:
        return Agreement(0, unmatched, None, None, "no label is about a graded row")
    accuracy = sum(verdict == label for verdict, label in pairs) / len(pairs)
    if len({label for _, label in pairs}) == 1 or len({verdict for verdict, _ in pairs}) == 1:
        return Agreement(len(pairs), unmatched, accuracy, None, "one side says the same of every row")
    from sklearn.metrics import cohen_kappa_score

    kappa = float(cohen_kappa_score([label for _, label in pairs], [verdict for verdict, _ in pairs]))
    return Agreement(len(pairs), unmatched, accuracy, kappa)
