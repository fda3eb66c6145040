"""Post-hoc calibration: from raw signals to P(correct), and thresholds with a certified error rate.

signals.py               signals as features: clipped log odds and missing indicators  needs numpy alone
maps.py                  fitted maps and how they are applied                          needs numpy alone
drift.py                 change-point e-process over graded traffic                    needs numpy alone
folds.py                 splits and folds by problem, one row or claim a problem       needs numpy alone
binomial.py              exact binomial tails and Clopper-Pearson bounds               needs scipy
certified_thresholds.py  thresholds with a certified error rate                        needs scipy
claims.py                the same for claims, one random claim a problem               needs scipy
populations.py           simulated answers whose true risk is known                    needs numpy alone

Fitting is not here: `demur.calibration.fit` does it with scikit-learn. Import from the modules: what applies a map on
a server must not need scipy.
"""
