"""How a confidence is written, and what is refused rather than guessed."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.core.parsing import read_claim_value, read_probability
from demur.core.parsing.stated_confidence import label_scale
from demur.core.reader import read

TABLE = Path(__file__).parents[1] / "data" / "reading" / "confidences.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
READ = [(row["written"], row["value"]) for row in ROWS if "value" in row]
REFUSED = [(row["refused"], row["written"]) for row in ROWS if "refused" in row]


@pytest.mark.parametrize(("text", "value"), READ)
def test_reads(text: str, value: float) -> None:
    assert read_probability(text).value == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("problem", "text"), REFUSED)
def test_refuses(problem: str, text: str) -> None:
    found = read_probability(text)
    assert (found.state, found.value, found.problems) == ("invalid", None, (problem,))


@pytest.mark.parametrize(("text", "value"), READ)
def test_a_claim_is_read_by_the_same_rule(text: str, value: float) -> None:
    assert read_claim_value(text).value == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("text", ["", " ", "**", '""', "-", "()", "\n"])
def test_nothing_is_missing_not_invalid(text: str) -> None:
    assert read_probability(text).state == "missing"


@pytest.mark.parametrize(
    ("label", "top"),
    [
        ("0-100", 100),
        ("0 to 1", 1),
        ("0.0–1.0", 1),
        ("1-10", 10),
        ("out of 5", 5),
        ("%", 100),
        ("in percent", 100),
        ("scale of 1 to 7", 7),
        ("between 0 and 100", 100),
        ("high/low", None),
        ("3-7", None),
    ],
)
def test_the_scale_that_a_label_names(label: str, top: float | None) -> None:
    assert label_scale(label) == top


@pytest.mark.parametrize(
    ("text", "scale", "value"),
    [
        ("85", 100, 0.85),
        ("1", 100, 0.01),
        ("7", 10, 0.7),
        ("0.9", 1, 0.9),
        ("85%", 10, 0.85),
        ("9/10", 100, 0.9),
        ("4 (out of 5)", 100, 0.8),
        ("0", 100, 0.0),
        ("101", 100, None),
        ("85", 1, None),
        ("0.9", 100, None),
    ],
)
def test_the_scale_of_the_prompt_counts_where_none_is_stated(text: str, scale: float, value: float | None) -> None:
    found = read_probability(text, scale=scale)
    assert found.value == (None if value is None else pytest.approx(value))
    output = read(f"Answer: 4\nConfidence: {text}", "response", scale=scale)
    assert output.confidence == found.value


@pytest.mark.parametrize(("value", "problem"), [("1.04", "clipped"), ("15", "rescaled"), ("100", "rescaled")])
def test_a_number_that_was_changed_says_so(value: str, problem: str) -> None:
    assert read_claim_value(value).problems == read_probability(value).problems == (problem,)


@pytest.mark.parametrize("value", ["1.06", "5", "9.99", "-0.1", "100.5"])
def test_lenient_claims_are_not_clipped_from_far_away(value: str) -> None:
    assert read_claim_value(value).state == "invalid"
    assert read_claim_value(value, "strict").problems == ("clipped",)


PIECES = [
    "0",
    "1",
    ".",
    ",",
    "9",
    "50",
    "%",
    "/",
    " ",
    "-",
    "to",
    "of",
    "10",
    "^",
    "{",
    "}",
    "(",
    ")",
    "\\frac",
    "e",
    "x",
]
PIECES += [
    "scale",
    "or",
    "sure",
    "±",
    "<",
    "½",
    "٪",
    "百分之",
    "in",
    "one",
    "percent",
    "*",
    "_",
    "$",
    "\\",
    "&amp;",
    "\n",
]


@settings(max_examples=2000, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=2)), max_size=14).map("".join))
def test_whatever_stands_there_is_a_probability_or_a_reason(text: str) -> None:
    found = read_probability(text)
    assert (found.value is not None) == (found.state == "value")
    assert found.value is None or 0 <= found.value <= 1
    assert found.state == "value" or len(found.problems) == 1


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(["", "%", " percent", " %", "٪"]), st.integers(1, 3))
def test_a_number_with_a_rest_that_says_nothing_is_never_taken(thousandths: int, sign: str, junk: int) -> None:
    number = f"{thousandths / 10:g}{sign}" if sign else f"{thousandths / 1000:g}"
    rest = "".join(random.Random(thousandths).choices("qzvk", k=junk))
    assert read_probability(number).state == "value"
    assert read_probability(f"{number} {rest}").state == "invalid"


@pytest.mark.parametrize(
    "piece", ["9", "0.9 ", "(", "1/", "9 of ", "i am ", "~", "about ", "\\text{", "<", "^(1)", "½", "&amp;"]
)
def test_a_long_statement_costs_no_more_than_a_short_one(piece: str) -> None:
    """It would not end if anything were tried again and again."""
    assert read_probability(piece * 1_000_000).state != "value" or piece == "9 of "
