"""Whether the promises of a calibrator hold on other graded answers than those it was made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from demur.calibration.calibrate import FIGURES
from demur.calibration.calibrator import Calibrator, Guarantee
from demur.calibration.errors import CalibrationError
from demur.calibration.rows import SignalRows
from demur.core.calibration.claims import wrong_of_one_each
from demur.core.metrics import METRICS, Difference, Rows, compare
from demur.evaluation.promise import Share, verdict


@dataclass(frozen=True, slots=True)
class KeptPromise:
    """One certified error rate on other rows. `questions` counts those that were graded, `answered` those with an
    answer (or claim) as sure as the threshold, `wrong` the wrong ones, of one such answer drawn from each question."""

    guarantee: Guarantee
    threshold: float
    questions: int
    answered: int
    wrong: int

    @property
    def coverage(self) -> Share:
        return Share.of(self.answered, self.questions)

    @property
    def error(self) -> Share:
        return Share.of(self.wrong, self.answered)

    @property
    def verdict(self) -> str:
        """In words; it is about these questions, a promise is about many sets of them."""
        return verdict(self.error, self.guarantee.max_error)


def before_and_after(calibrator: Calibrator, rows: SignalRows) -> Mapping[str, Difference]:
    """The figures of calibration over the graded ones of `rows`, with the raw number and with the calibrated one.

    The raw one is what the model stated, or the calibrator's first signal where it stated nothing.
    """
    graded = rows.graded()
    data = graded.packed()
    raw = "verbalized" if "verbalized" in graded.signals else calibrator.signals[0]
    confidences = graded.values((raw,))[:, 0], calibrator.confidence(graded.values(calibrator.signals))
    before, after = (Rows.of(p, data.correct, data.problem.tolist()) for p in confidences)
    return compare(before, after, metrics={name: METRICS[name] for name in FIGURES})


def kept_promises(calibrator: Calibrator, rows: SignalRows) -> Sequence[KeptPromise]:
    """Each certified error rate over the graded ones of `rows`, which are of the calibrator's level.

    Raises CalibrationError where no row was graded, and for a calibrator without a threshold.
    """
    certified = [(one, one.threshold) for one in calibrator.guarantees if one.threshold is not None]
    if not certified:
        raise CalibrationError(f"calibrator {calibrator.id} has no threshold, so there is nothing to test")
    graded = rows.graded()
    if not graded.rows:
        raise CalibrationError('no row was graded: "correct" is true or false of a graded one')
    data, rng = graded.packed(), np.random.default_rng(0)
    confidence = calibrator.confidence(graded.values(calibrator.signals))
    found = list[KeptPromise]()
    for one, threshold in certified:
        given = confidence >= threshold
        answered = len(np.unique(data.problem[given]))
        wrong = wrong_of_one_each(given, ~data.correct, data.problem, rng)
        found.append(KeptPromise(one, threshold, len(np.unique(data.problem)), answered, wrong))
    return found
