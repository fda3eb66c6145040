"""What calibration cannot go on with; every message is one line for the person at the keyboard."""

from demur.evaluation.errors import EvaluationError


class CalibrationError(EvaluationError):
    """Rows or options that cannot make a calibrator, or that one cannot be applied to."""


class CalibratorFileError(CalibrationError):
    """A calibrator file that cannot be used: names the file and the field."""
