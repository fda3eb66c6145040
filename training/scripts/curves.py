"""Draws the mean reward of toy runs: python training/scripts/curves.py OUT.svg "label=RUN_FOLDER" ..."""

import sys
from pathlib import Path
from statistics import fmean

import matplotlib.pyplot as plt

from demur_training import toy
from demur_training.circle import REWARD
from demur_training.watching import read_log

WINDOW = 5
"""Steps a point is the mean of."""


def smoothed(values: list[float]) -> list[float]:
    """Each value with those before it in the window."""
    return [fmean(values[max(0, i + 1 - WINDOW) : i + 1]) for i in range(len(values))]


def main(out: Path, runs: list[str]) -> None:
    """One line a run, and the reward of honest confidences."""
    plt.rcParams["svg.hashsalt"] = "demur"  # the same runs draw the same file
    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for run in runs:
        label, _, folder = run.partition("=")
        rows = [row for row in read_log(Path(folder) / "metrics.jsonl") if REWARD in row]
        axes.plot([row["step"] for row in rows], smoothed([row[REWARD] for row in rows]), label=label)
    axes.axhline(toy.best_reward(), color="grey", linestyle=":", label="honest confidences (Brier)")
    axes.set(xlabel="step", ylabel=f"mean reward ({WINDOW} steps)")
    axes.legend(frameon=False)
    figure.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
