"""Dates and times of day as answers write them: the same day, whichever way round and in whichever words.

What has two readings, as 03/04/2021, is not guessed: it is compared as it is written.
"""

import re
from dataclasses import dataclass
from datetime import date

from demur.core.equivalence.times import CLOCK, NAMED_TIMES, on_the_clock, read_time

MAX_CHARS = 200
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january|jan",
            "february|feb",
            "march|mar",
            "april|apr",
            "may",
            "june|jun",
            "july|jul",
            "august|aug",
            "september|sept|sep",
            "october|oct",
            "november|nov",
            "december|dec",
        ),
        start=1,
    )
    for name in names.split("|")
}
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday|mon",
            "tuesday|tues|tue",
            "wednesday|wed",
            "thursday|thurs|thur|thu",
            "friday|fri",
            "saturday|sat",
            "sunday|sun",
        )
    )
    for name in names.split("|")
}
_ERAS = {"bc": "bc", "bce": "bc", "ad": "ad", "ce": "ad"}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_WEEKDAY = "(?:(?P<weekday>" + "|".join(sorted(_WEEKDAYS, key=len, reverse=True)) + r")\b\.?,? (?:the )?)?"
_DAY = r"(?P<day>\d{1,2})(?: ?(?:st|nd|rd|th))?\b\.?"
_ERA = r"(?P<era>B\.? ?C\.? ?E\b\.?|B\.? ?C\b\.?|A\.? ?D\b\.?|C\.? ?E\b\.?)"
_YEAR = rf"(?P<year>\d{{4}}\b|\d{{1,4}}(?= ?{_ERA.replace('?P<era>', '?:')}))(?: ?{_ERA})?"
_WRITTEN = tuple(
    re.compile(rf"(?<![\w.,/-]){_WEEKDAY}{pattern}", re.IGNORECASE)
    for pattern in (
        rf"{_DAY} (?:day )?(?:of )?{_MONTH}(?:,? (?:of )?| ?- ?){_YEAR}",
        rf"{_MONTH} (?:the )?{_DAY}(?:,? ?(?:of )?){_YEAR}",
        rf"{_YEAR},? {_MONTH} {_DAY}(?!\w)",
    )
)
_WITHOUT_A_YEAR = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (rf"(?:the )?{_DAY} (?:of )?{_MONTH}", rf"{_MONTH} (?:the )?{_DAY}")
)
_WITHOUT_A_DAY = re.compile(rf"{_MONTH},? (?:of )?{_YEAR}", re.IGNORECASE)
_HYPHENED = re.compile(rf"{_DAY}-{_MONTH}-(?P<year>\d{{4}})", re.IGNORECASE)
_NUMBERS = re.compile(r"(\d{1,4})([-/.])\s?(\d{1,2})\2\s?(\d{1,4})\.?")
_YEARS = re.compile(r"((?:1\d|20)\d\d)\s?-\s?((?:(?:1\d|20)\d)?\d\d?)")
_ISO_WITH_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)Z?")
_CJK = re.compile(r"(?:(\d{3,4})\s*[年년])?\s*(?:(\d{1,2})\s*[月월])?\s*(?:(\d{1,2})\s*[日号號일])?")
_ERA_YEAR = re.compile(
    rf"(?:(?:the )?year )?(?:{_ERA} ?(?P<after>\d{{1,4}})|(?P<before>\d{{1,4}}) ?{_ERA.replace('era', 'era2')})", re.I
)
_ERA_WITHIN = re.compile(r"(?<![\w.,/-])(\d{1,4}) ?(BCE?\b|B\.C\.(?:E\.)?|CE\b|C\.E\.|AD\b|A\.D\.)")
_CENTURY = re.compile(r"\b(century|millennium) (BCE?\b|B\.C\.(?:E\.)?|CE\b|C\.E\.|AD\b|A\.D\.)")
_FOREIGN = re.compile(
    r"(\d{1,2})(?:\.|er|º|ª|o|\.?-?го|ος)?\s+(?:de |di |of )?([^\W\d_]+(?:['’][^\W\d_]+)?)\.?"
    r",?\s+(?:de |del )?(\d{4})(?:\s?(?:г|р|года|року|r)\.?)?"
)
_FOREIGN_YEAR_FIRST = re.compile(r"(\d{4})\.?\s+([^\W\d_]{3,})\s+(\d{1,2})\.?")
_DIGIT = re.compile(r"\d")
_HINT = re.compile(
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|B\.? ?C|A\.? ?D|C\.? ?E|\d ?(?:[:.]\d\d ?)?[ap]\.? ?m",
    re.IGNORECASE,
)
"""A text without any of these holds no date that its words tell."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A date whose month is named in a language that has to be looked up."""

    day: int
    month: str
    year: int
    written: str


def read_date(text: str) -> str | None:
    """What a text that is nothing but a date or a time of day says, in one spelling; None for any other text."""
    if len(text) > MAX_CHARS:
        return None
    if text[0].isdigit():
        found = _numbers(text) or read_time(text) or (None if text.isascii() else _cjk(text))
        if found:
            return found
    return _in_words(text) if text[0].isalnum() else None


def read_foreign_date(text: str) -> Foreign | None:
    """Day, month and year of a text that looks like a date and has no English month."""
    if len(text) > 60 or _DIGIT.search(text) is None:
        return None
    if match := _FOREIGN.fullmatch(text):
        return Foreign(int(match[1]), match[2], int(match[3]), text)
    match = _FOREIGN_YEAR_FIRST.fullmatch(text)
    return Foreign(int(match[3]), match[2], int(match[1]), text) if match else None


def iso(year: int | None, month: int, day: int | None) -> str | None:
    """The date as "date" and year, month and day in the order of ISO 8601, empty where not given; None where the
    calendar has no such day."""
    try:
        date(year if year and 0 < year < 10_000 else 2000, month, day or 1)
    except ValueError:
        return None
    parts = "" if year is None else f"{year:04}", f"{month:02}", "" if day is None else f"{day:02}"
    return "date " + "-".join(parts)


def with_iso_dates(text: str) -> str:
    """A text with every full date and every time with a.m. or p.m. in it in one spelling."""
    if len(text) > MAX_CHARS or _DIGIT.search(text) is None or _HINT.search(text) is None:
        return text
    for pattern in _WRITTEN:
        text = pattern.sub(lambda match: _dated(match) or match[0], text)
    text = _CENTURY.sub(lambda match: f"{match[1]} {_era(match[2])}", text)
    text = _ERA_WITHIN.sub(lambda match: f"year {match[1]} {_era(match[2])}", text)
    return CLOCK.sub(lambda match: on_the_clock(match) or match[0], text)


def _in_words(text: str) -> str | None:
    named = NAMED_TIMES.get(text.lower())
    if named:
        return f"time {named}"
    if _DIGIT.search(text) is None:
        month = _MONTHS.get(text.lower().rstrip("."))
        return None if month is None else f"month {month}"
    if _HINT.search(text) is None:
        return None
    for pattern in (*_WRITTEN, *_WITHOUT_A_YEAR, _WITHOUT_A_DAY, _HYPHENED):
        if match := pattern.fullmatch(text):
            return _dated(match)
    if match := _ERA_YEAR.fullmatch(text):
        era = _era(match["era"] or match["era2"])
        return f"year {int(match['after'] or match['before'])} {era}"
    return None


def _dated(match: re.Match[str]) -> str | None:
    found = match.groupdict()
    month = _MONTHS[found["month"].lower()]
    day = int(found["day"]) if found.get("day") else None
    year = int(found["year"]) if found.get("year") else None
    spelled = iso(year, month, day)
    era = _era(found.get("era"))
    if spelled is None or not _fits(found.get("weekday"), year, month, day, era):
        return None
    return spelled + (" bc" if era == "bc" else "")


def _fits(weekday: str | None, year: int | None, month: int, day: int | None, era: str | None) -> bool:
    """Whether the day named is the one of the calendar, where both are known."""
    if weekday is None or year is None or day is None or era == "bc" or year == 0:
        return weekday is None
    return date(year, month, day).weekday() == _WEEKDAYS[weekday.lower()] or year < 1583


def _era(written: str | None) -> str | None:
    return _ERAS[re.sub("[^a-z]", "", written.lower())] if written else None


def _numbers(text: str) -> str | None:
    """2021-09-03, 2021/9/3, 03.09.2021 (day first, as wherever points are used), 13/04/2021 (one reading)."""
    match = _NUMBERS.fullmatch(text)
    if match is None:
        if years := _YEARS.fullmatch(text):
            return _month_or_years(years[1], years[2])
        stamped = _ISO_WITH_TIME.fullmatch(text)
        return None if stamped is None else _stamped(stamped[1], stamped[2])
    first, between, second, last = match[1], match[2], int(match[3]), match[4]
    if len(first) == 4 and len(last) <= 2:
        return iso(int(first), second, int(last))
    if len(first) > 2 or len(last) != 4:
        return None
    year, a, b = int(last), int(first), second
    readings = {iso(year, b, a), iso(year, a, b) if between != "." else None} - {None}
    if len(readings) == 1:
        return readings.pop()
    return f"date {a} {b} {year}, day or month first" if readings else None


def _month_or_years(year: str, last: str) -> str | None:
    """2024-03 is a month, and 1914-18 and 1914-1918 are no differences."""
    month = len(last) == 2 and 0 < int(last) <= 12 and int(last) <= int(year) % 100
    return iso(int(year), int(last), None) if month else f"{year} to {last}"


def _stamped(day: str, clock: str) -> str | None:
    read, time = _numbers(day), read_time(clock)
    return f"{read} {time}" if read and time else None


def _cjk(text: str) -> str | None:
    match = _CJK.fullmatch(text)
    if match is None or match[2] is None:
        return None
    return iso(int(match[1]) if match[1] else None, int(match[2]), int(match[3]) if match[3] else None)
