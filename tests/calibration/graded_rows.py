"""Graded rows as a user brings them."""

import numpy as np

from demur.core.calibration.populations import POPULATIONS, draw
from demur.core.calibration.signals import SIGNALS


def records(n=300, population="coarse", signals=4, seed=0):
    """Rows of a population, one a problem, with its first signals."""
    answers = draw(POPULATIONS[population], n, np.random.default_rng(seed))
    return [
        {
            "problem": f"q{i}",
            "signals": {
                name: None if np.isnan(value) else round(value, 6)
                for name, value in zip(SIGNALS[:signals], answers.signals[i, :signals].tolist(), strict=True)
            },
            "correct": bool(answers.correct[i]),
        }
        for i in range(n)
    ]
