"""From graded answers to a calibrator file: what `demur calibrate` and `demur calibrators` do.

rows.py             graded rows with signals, read strictly    row_checks.py      whether they can make a calibrator
graded_source.py    rows and model out of a run's folder       ask_and_grade.py   a server asked for them first
fit.py              maps fitted and chosen by scikit-learn     calibrate.py       out-of-fold figures, certificates
calibrator.py       what a calibrator is, field by field       calibrator_file.py its file, with a checksum
matching.py         which requests a calibrator fits           store.py           the calibrators of a server
apply.py            a calibrator over rows                     errors.py          what it cannot go on with

calibrate_command.py, options.py     demur calibrate           calibrators_command.py  demur calibrators
listing.py, tables.py, wording.py    what the terminal shows   report/                 the page
check_installed.py  whether the libraries for it are there
"""
