"""Alarms: what a run should be stopped for, told from the figures of its steps.

Each rings once, on the step on which something has been wrong for `patience` steps on end, and again only after it was
well in between.
"""

from collections.abc import Callable, Mapping

Summary = Mapping[str, float]
"""The figures of one step, by the names of `training_metrics.summarise`."""


class Streak:
    """Counts training steps in a row at which something was wrong."""

    def __init__(self, patience: int) -> None:
        self._patience, self._steps = patience, 0

    def rings(self, wrong: bool) -> bool:
        """Count one step; True only at the step that makes it `patience` in a row, so that an alarm is given once."""
        self._steps = self._steps + 1 if wrong else 0
        return self._steps == self._patience


class CollapseAlarm:
    """Collapse of the confidences: a model that states 0.9 whatever it is asked earns a fair Brier reward, and tells
    nobody anything. `spread` is the standard deviation of a step's confidences, in [0, 0.5], below which it alarms."""

    def __init__(self, spread: float, patience: int) -> None:
        self._spread, self._streak = spread, Streak(patience)

    def check(self, summary: Summary) -> str | None:
        """What to tell and to try after this step; None where all is well, or was told before."""
        spread = summary.get("confidence_spread")
        if not self._streak.rings(spread is not None and spread < self._spread):
            return None
        return (
            f"confidence has collapsed: the model says about {summary['confidence']:.2f} to everything (spread"
            f" {spread:.3f}, accuracy {summary['accuracy']:.2f}). Mix easy and hopeless questions, start from a model"
            " whose confidences vary, or lower the learning rate."
        )


class FormatAlarm:
    """Loss of the output form: the share of outputs that keeps it fell by more than `fall` below its best so far."""

    def __init__(self, fall: float, patience: int) -> None:
        self._fall, self._streak, self._best = fall, Streak(patience), 0.0

    def check(self, summary: Summary) -> str | None:
        """What to tell and to try after this step; None where all is well, or was told before."""
        share = summary.get("format", self._best)
        self._best = max(self._best, share)
        if not self._streak.rings(share < self._best - self._fall):
            return None
        return (
            f"outputs lose their form: {share:.2f} have it, {self._best:.2f} had. Look at some (`demur-train report`);"
            " lower the learning rate, or go back to an earlier checkpoint."
        )


class AlikeAlarm:
    """No gradient: in almost all questions every sample earned the same reward. An advantage that is taken within a
    question's samples, as in GRPO (arXiv:2402.03300, section 4.1), is then zero. It alarms when more than `share` of a
    step's questions, in [0, 1], are such."""

    def __init__(self, share: float, patience: int) -> None:
        self._share, self._streak = share, Streak(patience)

    def check(self, summary: Summary) -> str | None:
        """What to tell and to try after this step; None where all is well, or was told before."""
        alike = summary.get("groups_alike", 0.0)
        if not self._streak.rings(alike > self._share):
            return None
        return (
            f"in {alike:.0%} of the questions every sample earned the same: there is nothing to learn from them."
            " Leave out questions that are always or never answered, or raise the sampling temperature."
        )


class Alarms:
    """All of them. `settings` is the section `demur.alarms` of a configuration."""

    def __init__(self, settings: Mapping[str, float]) -> None:
        patience = int(settings["patience"])
        alarms = (
            CollapseAlarm(settings["confidence_spread"], patience),
            FormatAlarm(settings["format_fall"], patience),
            AlikeAlarm(settings["groups_alike"], patience),
        )
        self._checks: tuple[Callable[[Summary], str | None], ...] = tuple(alarm.check for alarm in alarms)

    def check(self, summary: Summary) -> list[str]:
        """What to tell on this step."""
        return [told for check in self._checks if (told := check(summary))]
