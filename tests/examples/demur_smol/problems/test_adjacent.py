"""Families beside the graded ones: enough of each kind, right answers, nothing taught that is held out."""

import random
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest

from demur.core.equivalence import same_answer
from demur_smol_lab.grading import grade
from demur_smol_lab.problems import adjacent
from demur_smol_lab.problems.adjacent.longer import running
from demur_smol_lab.problems.mix import draw
from demur_smol_lab.worked_answers import claims_text, count_claims, response_text

CELLS = [f"{family}/{size}" for family in adjacent.FAMILIES for size in (1, 2)]
FIGURES = re.compile(r"[-+*/() 0-9.^]+")


def drawn(cell: str, count: int = 40):
    rng = random.Random(cell)
    return [draw(cell, rng) for _ in range(count)]


def expression(problem) -> str | None:
    """What the commonest way of asking for a value says, where that is figures and signs."""
    nouns = adjacent.FAMILIES[problem.family].core.nouns
    said = nouns[0].format(**dict(problem.asked)) if nouns else ""
    return said if FIGURES.fullmatch(said) else None


def value(figures: str) -> Fraction:
    figures = re.sub(r"(\d+) (\d+/\d+)", r"(\1 + \2)", figures)
    named = re.sub(r"\d+(?:\.\d+)?", lambda number: f"Fraction('{number[0]}')", figures.replace("^", "**"))
    return eval(named, {"Fraction": Fraction})  # noqa: S307 - digits and signs alone


def test_there_are_plenty_of_each_kind():
    count = Counter(family.kind for family in adjacent.FAMILIES.values())
    assert sum(count.values()) >= 100
    assert count[adjacent.TAUGHT] >= 30
    assert count[adjacent.DOUBTED] >= 25
    assert count[adjacent.HELD_OUT] >= 25
    assert count[adjacent.VALIDATED] >= 15


def test_answers_are_the_values_of_what_is_asked():
    checked = Counter()
    for cell in CELLS:
        for problem in drawn(cell):
            if figures := expression(problem):
                assert Fraction(problem.answer or "") == value(figures), problem
                checked[problem.family] += 1
    assert len(checked) >= 25


@pytest.mark.parametrize("cell", CELLS)
def test_worked_answers_are_read_and_right(cell):
    rng = random.Random(cell)
    for problem in drawn(cell, 5):
        written = claims_text(problem, [0.3] * count_claims(problem), rng)
        for contract, text in (("response", response_text(problem, 0.3)), ("claims", written)):
            graded = grade(problem, contract, text, ended=True)
            assert not graded.violation, text
            assert graded.valid == (problem.answer is not None), text
        assert all(right for _, right in graded.claims) == (problem.answer is not None)


@pytest.mark.parametrize(
    "family", [name for name, of in adjacent.FAMILIES.items() if not draw(f"{name}/1", random.Random(0)).answer]
)
def test_out_of_its_depth_it_says_so_in_plain_words_with_one_claim(family):
    for problem in drawn(f"{family}/1", 10):
        assert problem.answer is None
        assert problem.reply
        assert count_claims(problem) == 1
        graded = grade(problem, "response", response_text(problem, 0.0), ended=True)
        assert (graded.answer, graded.valid, graded.confidence) == (problem.reply, False, 0.0)


@pytest.mark.parametrize(
    ("cell", "pattern", "check"),
    [
        ("decimal_larger/1", r"[\d.]+", lambda a, b: max(Decimal(a), Decimal(b))),
        ("decimal_smaller/2", r"[\d.]+", lambda a, b: min(Decimal(a), Decimal(b))),
        ("largest/2", r"\d+", lambda a, b, c: max(int(a), int(b), int(c))),
        ("gap_sum/2", r"\d+", lambda *n: abs(int(n[0]) - int(n[1]))),
        ("percent_rest/1", r"\d+", lambda a: f"{100 - int(a)}%"),
        ("price/2", r"\d+\.\d+|\d+", lambda a, b: Decimal(a) * Decimal(b)),
        ("ratio/2", r"\d+", lambda a, b, c: int(b) // int(a) * int(c)),
        ("odd_or_even/2", r"\d+", lambda a: ["even", "odd"][int(a[-1]) % 2]),
    ],
)
def test_answers_by_another_way(cell, pattern, check):
    for problem in drawn(cell):
        values = [value for _, value in problem.asked if re.fullmatch(pattern, value)]
        assert same_answer(str(check(*values)), problem.answer or ""), problem


def test_the_leap_years():
    found = {dict(problem.asked)["a"]: problem.answer for problem in drawn("leap_year/1", 600)}
    assert {year: found[year] for year in ("1900", "2000", "1996", "1997") if year in found}.items() <= {
        "1900": "no", "2000": "yes", "1996": "yes", "1997": "no"
    }.items()  # fmt: skip


def test_running_totals():
    assert [str(step) for step in running((3, 4, 5))] == ["3 + 4 = 7", "7 + 5 = 12"]
