"""Whether a calibrator may be applied to a request: only to answers that come as its graded answers came.

Conditions are everything besides the question that decides what answers look like, by name: contract, prompt,
granularity, sampling and so on. A server tells those of each request; a calibrator holds those of its graded answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from demur.calibration.calibrator import Calibrator, Guarantee
from demur.calibration.errors import CalibratorFileError
from demur.core.answers import ParsedConfidence

Conditions = Mapping[str, Any]

OWN = ("contract", "prompt", "granularity", "aggregation")
"""Conditions that are fields of a calibrator file; the others stand under `sampling`."""
NEEDED = frozenset(
    {"source", "samples", "selection", "stopping", "error_budget", "max_tokens", "temperature", "top_p", "forced"}
    | {"system", "turns", "labels"}
)
"""Conditions that a calibrator has to know of its graded answers before a server takes it, besides OWN."""
_TOLD = 3


@dataclass(frozen=True)
class ServedCalibrator:
    """A calibrator that a server holds, called `name` in errors. Raises CalibratorFileError for one that cannot be
    matched with requests."""

    calibrator: Calibrator
    name: str

    def __post_init__(self) -> None:
        if (why := _unmatchable(self.calibrator)) is not None:
            raise CalibratorFileError(
                f"{self.name}: {why}; demur calibrators apply takes it, a server does not: make one from the folder of"
                " a demur evaluate run against this server"
            )

    @cached_property
    def conditions(self) -> Conditions:
        """The conditions that the graded answers were drawn under, by name."""
        own = {name: getattr(self.calibrator, name) for name in OWN}
        return own | dict(self.calibrator.sampling)

    @cached_property
    def source(self) -> str:
        """The confidence source that the graded answers were chosen and aggregated by."""
        return str(self.calibrator.sampling["source"])

    @cached_property
    def fingerprint(self) -> str | None:
        """The fingerprint of the model whose answers were graded; None where the rows did not say."""
        return None if self.calibrator.model is None else self.calibrator.model.fingerprint

    def confidence(self, signals: Mapping[str, ParsedConfidence]) -> ParsedConfidence:
        """P(correct) of one answer or claim from its signals by name.

        There is none where every signal that counts is missing, or one that no graded answer lacked: "invalid" if one
        of the signals is, else "missing".
        """
        names = self.calibrator.signals
        read = [signals.get(name, ParsedConfidence("missing")) for name in names]
        values = [np.nan if one.value is None else one.value for one in read]
        p = float(self.calibrator.confidence(np.array([values], dtype=np.float64))[0])
        if np.isnan(p):
            return ParsedConfidence("invalid" if any(one.state == "invalid" for one in read) else "missing")
        return ParsedConfidence("value", p)

    def of_claim(self, stated: float | None) -> float | None:
        """P(correct) of one claim, from the confidence that the model stated for it; None where there is none."""
        return self.confidence({"verbalized": ParsedConfidence("missing" if stated is None else "value", stated)}).value

    def other_model(self, fingerprint: str) -> str | None:
        """Why the calibrator does not fit the model of this fingerprint; None where it does."""
        if self.fingerprint == fingerprint:
            return None
        model = self.calibrator.model
        named = "" if model is None or model.name is None else f" ({model.name})"
        theirs = f"its fingerprint is {self.fingerprint}{named}, the served one's {fingerprint}"
        return f"it was made for another model: {theirs}"

    def differing(self, asked: Conditions) -> Sequence[str]:
        """The names of the conditions in which a request differs from the graded answers."""
        ours, of_no_effect = self.conditions, {"source"}
        if "p_true" not in self.calibrator.signals:
            of_no_effect.add("p_true_question")
        return [name for name in {**ours, **asked} if name not in of_no_effect and ours.get(name) != asked.get(name)]

    def misfit(self, asked: Conditions) -> str | None:
        """In what a request differs from the graded answers, in words; None where it does not."""
        names, ours = self.differing(asked), self.conditions
        if not names:
            return None
        told = [f"{name} {_shown(asked.get(name))} instead of {_shown(ours.get(name))}" for name in names[:_TOLD]]
        more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
        return f"this request differs from its graded answers in {', '.join(told)}{more}"

    def guarantees(self, at_most: float, least_threshold: float = 0.0) -> Sequence[Guarantee]:
        """The certified levels not above `at_most` whose threshold is at least that, ascending."""
        return [
            one
            for one in self.calibrator.guarantees
            if one.threshold is not None and one.max_error <= at_most and one.threshold >= least_threshold
        ]

    @cached_property
    def samples(self) -> int:
        """How many samples each graded answer was chosen among; 1 where nothing was chosen."""
        return int(self.calibrator.sampling["samples"] or 1)

    @property
    def smallest_level(self) -> float | None:
        """The smallest error rate that can be asked for; None where none is certified."""
        return next((one.max_error for one in self.guarantees(1.0)), None)


def _unmatchable(calibrator: Calibrator) -> str | None:
    if calibrator.model is None:
        return "it was made from rows without a run card, so nobody can tell which model and requests it is for"
    if calibrator.model.fingerprint is None:
        return "its run card does not say the model's fingerprint"
    missing = [name for name in OWN[:3] if getattr(calibrator, name) is None]
    missing += sorted(NEEDED - calibrator.sampling.keys())
    if missing:
        return f"its run card does not say {missing[0]} of the graded answers"
    if calibrator.level != calibrator.granularity:
        return f"level is {calibrator.level} and granularity {calibrator.granularity}"
    return None


def _shown(value: Any) -> str:
    return "null" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
