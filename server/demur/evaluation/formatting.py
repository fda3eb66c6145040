"""Figures, intervals and verdicts as text: one place for the terminal, the report and the comparison."""

from demur.core.metrics import Check, Estimate
from demur.evaluation.results import Results

OBJECTIVES = {
    "adaptive_risk": "adaptive risk",
    "accuracy_kept": "accuracy kept",
    "hallucination_reduced": "hallucination reduced",
    "quantitative_calibration": "quantitative calibration",
}

ARROWS = {"higher": "↑", "lower": "↓", "neither": ""}


def value_of(figure: Estimate, digits: int = 3) -> str:
    """The figure, or a dash."""
    return "–" if figure.value is None else f"{figure.value:z.{digits}f}"


def interval_of(figure: Estimate, digits: int = 3) -> str:
    """Its interval, or the reason why the figure or the interval is missing."""
    if figure.low is None or figure.high is None:
        return figure.reason or ""
    return f"{figure.low:z.{digits}f} to {figure.high:z.{digits}f}"


def clear(difference: Estimate) -> bool:
    """Whether the interval of a difference leaves zero out."""
    return difference.low is not None and difference.high is not None and not difference.low <= 0 <= difference.high


def bound_of(check: Check) -> str:
    """What the check asks for."""
    return f"{'>' if check.side == 'above' else '≤'} {check.bound:g}"


def verdict_of(check: Check) -> str:
    """pass, fail or undefined; "inconclusive" where the interval lies on both sides of the bound."""
    if check.passed is None:
        return "undefined"
    return ("pass" if check.passed else "fail") + ("" if check.conclusive else ", inconclusive")


def counts_of(results: Results) -> list[str]:
    """One sentence for each thing a reader has to know about the rows."""
    rows = results.rows
    sentences = [f"{len(rows.rows):,} rows about {len({row.problem for row in rows.rows}):,} problems.", *rows.notes]
    if results.ungraded:
        sentences.append(f"{results.ungraded:,} rows could not be graded and are scored nowhere.")
    missing, unreadable = rows.count("missing"), rows.count("invalid")
    if rows.explicit_risk:
        if unreadable:
            sentences.append(
                f"{unreadable:,} outputs neither answered nor declined: they are unreadable and count as abstentions."
            )
        return sentences
    if missing + unreadable:
        treatment = {
            "skip": "they count in accuracy and are left out of everything else",
            "abstain": "they count as confidence 0",
        }[results.missing]
        sentences.append(f"{missing:,} rows have no confidence and {unreadable:,} an unreadable one: {treatment}.")
    if rows.unreadable:
        sentences.append(f"The first unreadable confidence is in {rows.unreadable}; it must be in [0, 1].")
    return sentences
