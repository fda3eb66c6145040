"""The metrics of the evaluation (arXiv:2512.19920, section 4): confidences and verdicts in, figures with intervals out.

rows.py            validated rows               outcomes.py       what happens at each threshold
tally.py           counts per confidence        explicit_risk.py  runs whose prompt carries the threshold
scores.py          one function a figure        objectives.py     the paper's four objectives as checks
smooth.py          smooth calibration error     bootstrap.py      resampling of problems
summary.py         all figures, and the paired comparison of two runs
"""

from demur.core.metrics.bootstrap import Resamples, interval, resample
from demur.core.metrics.estimate import Estimate
from demur.core.metrics.explicit_risk import RiskRow, risk_outcomes
from demur.core.metrics.objectives import Check, objectives, threshold_grid, verbalized_outcomes
from demur.core.metrics.outcomes import Outcomes, outcomes
from demur.core.metrics.rows import Floats, Missing, Rows, RowsError, number
from demur.core.metrics.smooth import smece, smece_and_width, smooth_curve
from demur.core.metrics.summary import METRICS, Difference, Metric, Summary, compare, summarise
from demur.core.metrics.tally import Tally, tally

__all__ = [
    "METRICS",
    "Check",
    "Difference",
    "Estimate",
    "Floats",
    "Metric",
    "Missing",
    "Outcomes",
    "Resamples",
    "RiskRow",
    "Rows",
    "RowsError",
    "Summary",
    "Tally",
    "compare",
    "interval",
    "number",
    "objectives",
    "outcomes",
    "resample",
    "risk_outcomes",
    "smece",
    "smece_and_width",
    "smooth_curve",
    "summarise",
    "tally",
    "threshold_grid",
    "verbalized_outcomes",
]
