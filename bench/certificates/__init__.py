"""The parts of `python -m bench guarantee`: cells of its tables, simulated populations, MMLU-Pro."""
