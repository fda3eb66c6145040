"""Times, dates, ages."""

import random
from collections.abc import Mapping

from demur_smol_lab.problems.adjacent.family import (
    DOUBTED,
    HELD_OUT,
    TAUGHT,
    VALIDATED,
    Drawn,
    Family,
    answered,
    family,
    worked,
)
from demur_smol_lab.problems.frames.words import DAYS
from demur_smol_lab.problems.problem import Step

_MONTHS = {
    "January": 31,
    "March": 31,
    "April": 30,
    "May": 31,
    "June": 30,
    "July": 31,
    "August": 31,
    "September": 30,
    "October": 31,
    "November": 30,
    "December": 31,
}


def _day_after(rng: random.Random, size: int) -> Drawn:
    start, later = rng.randrange(7), 1 if size == 1 else rng.randint(2, 6)
    return answered(DAYS[(start + later) % 7], x=DAYS[start], n=later)


def _day_before(rng: random.Random, size: int) -> Drawn:
    start = rng.randrange(7)
    return answered(DAYS[start - 1], x=DAYS[start])


def _clock(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02d}"


def _later(rng: random.Random, size: int) -> Drawn:
    start, more = rng.randint(60, 18 * 60), rng.choice((10, 15, 20, 30, 45)) * size
    return answered(_clock(start + more), a=_clock(start), n=more)


def _hours(rng: random.Random, size: int) -> Drawn:
    start, length = rng.randint(1, 10), rng.randint(2, 6 * size)
    return worked([Step(start + length, "-", start)], a=f"{start}:00", b=f"{start + length}:00")


def _age(rng: random.Random, size: int) -> Drawn:
    year, age = rng.randint(1990, 2026), rng.randint(5, 45 * size)
    return worked([Step(year, "-", year - age)], a=year - age, b=year)


def _born(rng: random.Random, size: int) -> Drawn:
    year, age = rng.randint(1990, 2026), rng.randint(5, 45 * size)
    return worked([Step(year, "-", age)], a=age, b=year)


def _month(rng: random.Random, size: int) -> Drawn:
    month = rng.choice(sorted(_MONTHS))
    return answered(_MONTHS[month], x=month)


def _month_after(rng: random.Random, size: int) -> Drawn:
    names = list(_MONTHS)
    i = rng.randrange(1, len(names) - 1)
    return answered(names[i + 1], x=names[i])


def _leap(rng: random.Random, size: int) -> Drawn:
    year = rng.randint(1900, 2100)
    return answered("yes" if (year % 4 == 0 and year % 100 != 0) or year % 400 == 0 else "no", a=year)


def _weeks_and_days(rng: random.Random, size: int) -> Drawn:
    weeks, days = rng.randint(2, 9 * size), rng.randint(1, 6)
    first = Step(weeks, "*", 7)
    return worked([first, Step(first.result, "+", days)], a=weeks, b=days)


def _afternoon(rng: random.Random, size: int) -> Drawn:
    hour = rng.randint(1, 11)
    return answered(f"{hour + 12}:00", a=hour)


CALENDAR: Mapping[str, Family] = {
    "day_after": family(
        DOUBTED, _day_after, wholes=("Today is {x}. Which day is it in {n} days?", "What day comes {n} days after {x}?")
    ),
    "day_before": family(
        HELD_OUT, _day_before, wholes=("Which day comes before {x}?", "Today is {x}. What day was yesterday?")
    ),
    "clock_later": family(
        HELD_OUT,
        _later,
        wholes=(
            "It is {a}. What time is it in {n} minutes?",
            "A train leaves at {a} and is {n} minutes late. When does it leave?",
        ),
    ),
    "hours_between": family(
        TAUGHT,
        _hours,
        wholes=(
            "How many hours are there from {a} to {b}?",
            "A shop is open from {a} to {b}. How many hours is that?",
            "{who} works from {a} until {b}. How many hours?",
            "Work starts at {a} and ends at {b}. How long is it in hours?",
            "From {a} to {b} it is how many hours?",
        ),
    ),
    "age": family(
        TAUGHT,
        _age,
        wholes=(
            "{who} was born in {a}. How old does {who} get in {b}?",
            "How many years is it from {a} to {b}?",
            "A house was built in {a}. How many years old is it in {b}?",
            "Born {a}, how old in {b}?",
            "How many years lie between {a} and {b}?",
        ),
    ),
    "birth_year": family(VALIDATED, _born, wholes=("{who} turns {a} in {b}. In which year was {who} born?",)),
    "month_days": family(DOUBTED, _month, wholes=("How many days does {x} have?", "How long is {x} in days?")),
    "month_after": family(HELD_OUT, _month_after, wholes=("Which month comes after {x}?", "What month follows {x}?")),
    "leap_year": family(VALIDATED, _leap, wholes=("Is {a} a leap year?",)),
    "weeks_and_days": family(DOUBTED, _weeks_and_days, wholes=("How many days are {a} weeks and {b} days?",)),
    "afternoon": family(HELD_OUT, _afternoon, wholes=("Write {a} pm in 24-hour time.",)),
}
