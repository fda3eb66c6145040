"""Signals of single fields of a JSON answer, beside those of the whole answer."""

from typing import Protocol, runtime_checkable

from demur.answering.confidence.base import FinishedSample
from demur.answering.confidence.signal import Signal, Signals
from demur.core.answers import FieldValue


@runtime_checkable
class FieldSource(Protocol):
    """A confidence source that also tells single fields apart, at no further cost."""

    def of_field(self, field: FieldValue, sample: FinishedSample) -> Signal:
        """The signal of one field of the chosen sample; missing with the reason where there is none."""
        ...


FieldSignals = tuple[Signals, ...]
"""By the name of the source, for each field in their order."""
