"""`python -m demur_smol_lab` is `demur-smol-lab`."""

from demur_smol_lab.cli import main

main()
