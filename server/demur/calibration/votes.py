"""Votes replayed: what a server would have answered to requests for several samples, out of samples asked one by one.

Samples of one question are drawn independently, so that the first N of them are what a request for N samples draws. One
run with N samples of each question is enough to calibrate votes of any number up to N.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from demur.calibration.errors import CalibrationError
from demur.calibration.rows import SignalRow
from demur.core.selection import Sample, SelectionRule, select
from demur.evaluation.grade import Graded


@dataclass(frozen=True, slots=True)
class Voting:
    """How a request would choose: among so many samples, all of them drawn, by this rule."""

    samples: int
    selection: SelectionRule

    def conditions(self, of_one: Mapping[str, Any]) -> dict[str, Any]:
        """The conditions that a vote is matched by, from those of its single samples."""
        voted = {"samples": self.samples, "selection": self.selection, "stopping": "none", "error_budget": None}
        return {**of_one, **voted}


def check_single(plan: Mapping[str, Any], where: str) -> None:
    """Raises CalibrationError for a run whose samples cannot be voted on: its plan says how it was asked."""
    if plan.get("selection") is not None:
        raise CalibrationError(
            f"{where}: the server has chosen among these samples already; --samples is for a run that was made without"
            " --selection"
        )
    if (source := plan.get("confidence_source")) not in (None, "verbalized"):
        raise CalibrationError(
            f"{where}: these samples would vote with {source}; --samples is for a run with --confidence-source"
            " verbalized"
        )


def votes_of(graded: Iterable[Graded], voting: Voting, where: str) -> tuple[SignalRow, ...]:
    """One row a question: the answer that the vote chooses, with the confidence of its group as `verbalized`.

    `agreement` is the share of the other samples that gave it; further signals are those of the sample that stands for
    it. Raises CalibrationError where a question has fewer samples.
    """
    by_problem: dict[str, list[Graded]] = {}
    for one in graded:
        by_problem.setdefault(one.key.problem, []).append(one)
    short = sum(len(samples) < voting.samples for samples in by_problem.values())
    if short:
        raise CalibrationError(
            f"{where}: {short:,} of {len(by_problem):,} questions have fewer than {voting.samples} samples; go on with"
            f" the run by the same demur evaluate command and --samples {voting.samples}"
        )
    return tuple(_voted(samples, voting) for samples in by_problem.values())


def _voted(samples: list[Graded], voting: Voting) -> SignalRow:
    drawn = sorted(samples, key=lambda one: one.key.sample)[: voting.samples]
    selection = select([_vote(one) for one in drawn], voting.selection)
    signals: dict[str, float | None] = {"verbalized": selection.confidence, "agreement": None}
    correct: bool | None = False
    if selection.sample is not None:
        winner = next(one for one in drawn if one.key.sample == selection.sample.id)
        correct = winner.verdict.correct
        members = len(selection.groups[0].members)
        signals = {**(winner.output.signals or {}), **signals, "agreement": (members - 1) / (voting.samples - 1)}
    first = drawn[0]
    text = first.question.text or None
    return SignalRow(first.key.problem, 0, None, correct, signals, None, text, {"problem": first.key.problem})


def _vote(one: Graded) -> Sample:
    """Each sample votes with what it states."""
    output = one.output
    state = output.state if output.stated == output.confidence else "missing" if output.stated is None else "value"
    return Sample(one.key.sample, one.group, output.answer, output.stated, state)
