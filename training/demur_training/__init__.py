"""Training of calibrated confidences with verl: `demur-train`."""

__version__ = "0.1.0"
