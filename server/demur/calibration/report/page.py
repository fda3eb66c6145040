"""The page of a calibrator: one HTML file that fetches nothing, for somebody who knows no statistics."""

from dataclasses import dataclass
from pathlib import Path

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from demur.calibration.calibrate import Calibrated
from demur.calibration.errors import CalibrationError
from demur.calibration.report.figures import any_confidence, reliability_of, risk_and_coverage
from demur.calibration.wording import (
    SIGNALS,
    carried,
    confidence_needed,
    counted,
    graded,
    notes,
    odds_explained,
    on_average,
    percent,
    promise,
    valid_for,
)
from demur.core.metrics import METRICS
from demur.evaluation.formatting import ARROWS, interval_of, value_of
from demur.evaluation.report.figures import as_svg
from demur.named_file import shown

MEANINGS = {
    "auc": "How often a right answer is stated surer than a wrong one. 0.5 is a coin, 1 is always.",
    "smece": "How far the confidence lies from the share that is right, on average. 0 is true.",
    "brier": "Both together, as a squared distance between confidence and outcome. 0 is perfect.",
    "snr_gain": "How much more confidence right answers get than wrong ones. 0 is no more.",
}
CAPTIONS = (
    "Before: what was said against what was true. On the dashed line, of the answers said to be 80 % sure 80 % are"
    " right; below it the model claims too much. The line is thick where many answers lie; where the grey band is wide,"
    " few do.",
    "After: the same answers with the new confidence, which was made without them.",
    "If only answers with at least this confidence are given: how many that are, and how many of them are wrong. Each"
    " dot is a promise: from this confidence on, at most so many wrong. It lies above the line of wrong answers: the"
    " gap is kept in case the graded answers were lucky ones.",
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure in the page."""

    source: str
    caption: str


def page(found: Calibrated) -> str:
    """The page of a calibrator."""
    return (
        _environment()
        .get_template("calibrator.html.j2")
        .render(
            found=found,
            calibrator=found.calibrator,
            pictures=pictures(found),
            promises=[(g, promise(g, found.calibrator)) for g in found.calibrator.guarantees],
            carried=carried(found),
            counted=counted(found.calibrator),
            graded=graded(found.calibrator),
            notes=notes(found),
            odds=odds_explained(found.calibrator),
            on_average=on_average(found),
            valid_for=valid_for(found.calibrator),
        )
    )


def write_page(path: Path, found: Calibrated) -> None:
    """Write the page. Raises CalibrationError."""
    try:
        path.write_text(page(found), encoding="utf-8")
    except OSError as error:
        raise CalibrationError(f"cannot write {shown(path)}: {error.strerror}") from None


def pictures(found: Calibrated) -> list[Picture]:
    """Reliability before and, where a map changed it, after; and what happens over the threshold. Nothing where no row
    has a confidence."""
    if not (any_confidence(found.before) and any_confidence(found.after)):
        return []
    figures = (
        reliability_of(found.before, "Before"),
        None if found.calibrator.map.kind == "identity" else reliability_of(found.after, "After"),
        risk_and_coverage(found.after, found.calibrator),
    )
    captioned = zip(figures, CAPTIONS, strict=True)
    return [Picture(as_svg(figure), caption) for figure, caption in captioned if figure is not None]


def _environment() -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("demur.calibration.report"), PackageLoader("demur.evaluation.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(value_of=value_of, interval_of=interval_of, percent=percent)
    environment.globals.update(confidence_needed=confidence_needed)
    environment.globals.update(METRICS=METRICS, ARROWS=ARROWS, MEANINGS=MEANINGS, SIGNALS=SIGNALS)
    return environment
