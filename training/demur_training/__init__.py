"""Training of calibrated confidences with verl: `demur-train`."""
