"""verl's hook: it imports the module that VERL_USE_EXTERNAL_MODULES names, and expects it to act."""

from demur_training.cpu_platform import load

load()
