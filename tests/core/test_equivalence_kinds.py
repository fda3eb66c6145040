"""One value in many spellings: dates, times, intervals, repeating decimals, matrices, numbers with separators."""

import subprocess
import sys
from datetime import date, time
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from demur.core.equivalence import answer_key, compare, group_answers, same_answer

unhurried = settings(deadline=None, max_examples=60)
DATES = st.dates(date(1000, 1, 1), date(2999, 12, 31))
TIMES = st.times().map(lambda moment: time(moment.hour, moment.minute))
BOUNDS = st.fractions(min_value=-50, max_value=50, max_denominator=12)


def spelled_dates(day: date) -> list[str]:
    """Spellings that have one reading."""
    ordinal = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}.get(day.day, "th")
    month = f"{day:%B}"
    return [
        day.isoformat(),
        f"{day.year}/{day.month}/{day.day}",
        f"{day.day:02}.{day.month:02}.{day.year}",
        f"{month} {day.day}, {day.year}",
        f"{day.day} {month[:3]} {day.year}",
        f"{day.day}{ordinal} of {month}, {day.year}",
        f"{month.upper()} {day.day}{ordinal} {day.year}",
        f"{day.year}年{day.month}月{day.day}日",
        rf"\text{{{month} {day.day}, {day.year}}}",
    ]


@unhurried
@given(DATES)
def test_a_date_is_one_however_it_is_written(day: date) -> None:
    assert len({answer_key(spelling) for spelling in spelled_dates(day)}) == 1


@unhurried
@given(DATES, DATES)
def test_two_dates_are_two_however_they_are_written(one: date, other: date) -> None:
    assume(one != other)
    assert not {answer_key(spelling) for spelling in spelled_dates(one)} & set(map(answer_key, spelled_dates(other)))


@unhurried
@given(DATES)
def test_which_number_is_the_month_is_not_guessed(day: date) -> None:
    slashed = f"{day.day}/{day.month}/{day.year}"
    told = day.day > 12 or day.day == day.month
    assert same_answer(slashed, day.isoformat()) is told


@unhurried
@given(TIMES)
def test_a_time_of_day_is_one_however_it_is_written(moment: time) -> None:
    hour, half = moment.hour % 12 or 12, "PM" if moment.hour >= 12 else "AM"
    spellings = [
        f"{moment:%H:%M}",
        f"{moment.hour}:{moment.minute:02}",
        f"{hour}:{moment.minute:02} {half}",
        f"{hour}:{moment.minute:02}{half.lower()}",
        f"{hour:02}:{moment.minute:02} {half[0].lower()}.m.",
    ]
    spellings += [f"{hour} {half}"] if moment.minute == 0 else []
    assert len({answer_key(spelling) for spelling in spellings}) == 1
    assert not same_answer(spellings[2], spellings[2].replace(half, "AM" if half == "PM" else "PM"))


@unhurried
@given(BOUNDS, BOUNDS, st.booleans(), st.booleans())
def test_an_interval_is_one_however_it_is_written(low: Fraction, high: Fraction, has_low: bool, has_high: bool) -> None:
    assume(low < high)
    opening, closing = "[" if has_low else "(", "]" if has_high else ")"
    less, last = r"\le" if has_low else "<", r"\le" if has_high else "<"
    spellings = [
        f"{opening}{low}, {high}{closing}",
        f"{low} {less} x {last} {high}",
        rf"x \in {opening}{low}, {high}{closing}",
        rf"\{{x \mid {low} {less} x {last} {high}\}}",
        f"x {'>=' if has_low else '>'} {low} and x {'<=' if has_high else '<'} {high}",
    ]
    assert {same_answer(spellings[0], spelling) for spelling in spellings} == {True}
    assert len({answer_key(spelling) for spelling in spellings}) == 1
    other = f"{'(' if has_low else '['}{low}, {high}{closing}"
    assert not any(same_answer(other, spelling) for spelling in spellings)


@unhurried
@given(st.lists(BOUNDS, min_size=1, max_size=4, unique=True))
def test_all_numbers_but_some_are_one_set_however_they_are_written(points: list[Fraction]) -> None:
    listed, ends = ", ".join(map(str, points)), ["-\\infty", *map(str, sorted(points)), "\\infty"]
    spellings = [
        rf"\mathbb{{R}} \setminus \{{{listed}\}}",
        f"all real numbers except {listed}",
        rf"x \ne {listed}",
        r"\cup".join(f"({low}, {high})" for low, high in pairwise(ends)),
    ]
    assert len({answer_key(spelling) for spelling in spellings}) == 1
    assert not any(same_answer(spelling, r"\mathbb{R}") for spelling in spellings)


@unhurried
@given(st.integers(0, 99), st.text("0123456789", max_size=3), st.text("0123456789", min_size=1, max_size=4))
def test_a_repeating_decimal_is_its_fraction(whole: int, before: str, block: str) -> None:
    nines = 10 ** len(block) - 1
    value = whole + Fraction(int(before or 0), 10 ** len(before)) + Fraction(int(block), nines * 10 ** len(before))
    spellings = [
        rf"{whole}.{before}\overline{{{block}}}",
        f"{whole}.{before}({block})",
        rf"${whole}.{before}\bar{{{block}}}$",
    ]
    assert {answer_key(spelling) for spelling in spellings} == {str(value)}
    if int(block) % nines:
        assert not same_answer(spellings[0], f"{whole}.{before}{block}")


@unhurried
@given(st.lists(st.lists(BOUNDS, min_size=2, max_size=2), min_size=2, max_size=3))
def test_a_matrix_is_one_in_every_environment(rows: list[list[Fraction]]) -> None:
    body = r" \\ ".join(" & ".join(map(str, row)) for row in rows)
    spellings = [
        rf"\begin{{pmatrix}} {body} \end{{pmatrix}}",
        rf"\begin{{bmatrix}}{body}\\\end{{bmatrix}}",
        rf"\left[\begin{{array}}{{cc}} {body} \end{{array}}\right]",
        rf"\left(\begin{{matrix}} {body} \end{{matrix}}\right)",
        "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in rows) + "]",
    ]
    assert len({answer_key(spelling) for spelling in spellings}) == 1
    assert not same_answer(spellings[0], spellings[0].replace("pmatrix", "vmatrix"))


@unhurried
@given(st.integers(1_000, 10**9), st.integers(1, 99))
def test_a_number_is_one_with_any_separators(whole: int, cents: int) -> None:
    grouped = f"{whole:,}"
    spellings = [
        f"{grouped}.{cents:02}",
        f"{grouped.replace(',', ' ')}.{cents:02}",
        f"{grouped.replace(',', chr(39))}.{cents:02}",
    ]
    spellings += [f"{grouped.replace(',', '.')},{cents:02}", f"{whole}.{cents:02}"]
    assert len({answer_key(spelling) for spelling in spellings}) == 1


@unhurried
@given(st.integers(0, 10**6).map(lambda n: Fraction(n, 100)))
def test_a_percentage_is_the_fraction_that_it_is_and_never_its_number(value: Fraction) -> None:
    for percent in (f"{value}%", rf"{value}\%", f"{value} percent"):
        assert same_answer(percent, str(value / 100))
        assert same_answer(percent, str(value)) is (value == 0)
        assert answer_key(percent) == str(value / 100)


@pytest.mark.parametrize(
    ("a", "b", "needs"),
    [
        ("x^2-1", "(x-1)(x+1)", ("formulas",)),
        ("1 km", "1000 m", ("units",)),
        ("2 h 30 min", "150 min", ("units",)),
        ("15. März 2020", "March 15, 2020", ("month names",)),
        ("Paris", "London", ()),
        ("1/2", "0.5", ()),
    ],
)
def test_without_the_grader_a_comparison_says_what_it_could_not_compare(a: str, b: str, needs: tuple[str, ...]) -> None:
    assert compare(a, b).not_compared == compare(b, a).not_compared == needs
    assert compare(a, b).same is (a == "1/2")


def test_the_core_compares_without_the_libraries_of_the_grader() -> None:
    code = (
        "import sys\n"
        "for name in ('pint', 'babel', 'sympy', 'math_verify', 'latex2sympy2_extended'): sys.modules[name] = None\n"
        "from demur.core.equivalence import compare, same_answer\n"
        "assert same_answer('March 5, 2024', '2024-03-05') and same_answer('90%', '0.9')\n"
        "assert compare('1 km', '1000 m').not_compared == ('units',)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("library", "call"), [("pint", "unit('km')"), ("babel", "month('marzo')")])
def test_the_grader_goes_without_either_library(library: str, call: str) -> None:
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from demur.grading import reference\n"
        f"assert reference.{call} is None and reference.MISSING == ({library!r},)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_plain_answers_and_quantities_never_ask_the_grader() -> None:
    answers = [
        "42",
        "3,14",
        "60%",
        "Paris",
        "The Who",
        "5 km",
        "March 5, 2024",
        "3 PM",
        "x > 2",
        r"\mathbb{R}",
        "[[1,2],[3,4]]",
    ]
    answers += [
        r"0.\overline{3}",
        "twenty-one",
        "44 BC",
        r"\{1,1,2\}",
        "1.234,56",
        "|AB| = 1",
        "12 Angry Men",
        "no solution",
    ]
    assert group_answers(answers, Unasked()) == list(range(len(answers)))


class Unasked:
    """An algebra that must not be asked for a key."""

    def canonical(self, latex: str) -> str | None:
        raise AssertionError(f"asked for {latex!r}")

    def equal(self, latex: str, other: str) -> bool:
        raise AssertionError(f"asked for {latex!r} and {other!r}")

    def unit(self, name: str) -> None:
        raise AssertionError(f"asked for {name!r}")

    def month(self, name: str) -> int | None:
        raise AssertionError(f"asked for {name!r}")
