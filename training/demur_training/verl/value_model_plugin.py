"""verl's hook: it imports the module that VERL_USE_EXTERNAL_MODULES names, and expects it to act."""

from demur_training.verl.value_model import install

install()
