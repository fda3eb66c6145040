"""`demur calibrators diff --feedback`: what two calibrators decided about the same live answers."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich import box
from rich.table import Table

from demur.calibration.errors import CalibrationError
from demur.feedback.remote import ask_server, at_database, is_server

KINDS = {
    "both": "both answer",
    "only_served": "only the served one answers",
    "only_shadow": "only its shadow answers",
    "neither": "neither answers",
}

Comparison = Mapping[str, Any]
"""A `shadows.Compared` as JSON."""


def comparison(place: str, first: str, second: str) -> Comparison:
    """What is known of two calibrators, one of which is or was the other's shadow. Raises CalibrationError."""
    found = next((one for one in _all(place) if {one["calibrator"], one["served"]} == {first, second}), None)
    if found is None:
        raise CalibrationError(
            "--feedback: no live answer was decided by both yet; demur calibrators shadow lets one compute beside the"
            " other, and what it says is written within a second of an answer"
        )
    return found


def comparison_table(found: Comparison) -> Table:
    """One line for each way in which they may decide, then what each answers in all."""
    title = f"On live answers: {found['served'][:12]} serves, {found['calibrator'][:12]} computes beside it"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for heading, side in (("", "left"), ("decisions", "right"), ("audited: right", "right"), ("wrong", "right")):
        table.add_column(heading, justify=side)  # pyright: ignore[reportArgumentType]
    for kind, words in KINDS.items():
        _row(table, words, found, (kind,))
    table.add_section()
    _row(table, "the served one answers", found, ("both", "only_served"))
    _row(table, "its shadow answers", found, ("both", "only_shadow"))
    return table


def _row(table: Table, words: str, found: Comparison, kinds: tuple[str, ...]) -> None:
    counts = (found, found["right"], found["wrong"])
    table.add_row(words, *(f"{sum(of.get(kind, 0) for kind in kinds):,}" for of in counts))


def _all(place: str) -> list[Comparison]:
    if is_server(place):
        found = ask_server(place, "GET", "/v1/feedback/summary").get("shadows")
        if found is None:
            raise CalibrationError("--feedback: the key needs the right calibrate; demur keys create NAME --calibrate")
        return found
    with at_database(place) as (db, _, _):
        from demur.feedback.shadows import comparisons

        return [asdict(one) for one in comparisons(db)]
