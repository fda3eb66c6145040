"""From graded answers to a calibrator file: what `demur calibrate` and `demur calibrators` do.

rows.py         rows with signals, read strictly          fit.py         maps fitted and chosen by scikit-learn
run.py          rows and model out of a run's folder      calibrating.py out-of-fold figures, certificates
file.py         the calibrator file, strict, with a checksum    applying.py    a calibrator over rows
command.py      demur calibrate                           options.py     its options
calibrators.py  demur calibrators apply, show, list, diff
listing.py      calibrator files as tables                tables.py      what the terminal shows
words.py        how promises are worded                   report/        the page
installed.py    whether its libraries are there           errors.py      what it cannot go on with
"""
