"""`python -m demur_training` is `demur-train`."""

from demur_training.cli import main

main()
