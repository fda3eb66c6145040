"""Times of day in one spelling: 3 PM, 3:00 p.m. and 15:00."""

import re

CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d)(?::(?P<second>\d\d))?)? ?(?P<half>[ap])\.? ?m\b\.?", re.IGNORECASE
)
"""A time with a.m. or p.m."""
_TWENTY_FOUR = re.compile(r"(\d{1,2}) ?: ?(\d\d)(?: ?: ?(\d\d))?(?: ?(?:h|hrs|hours|o'clock))?")
_O_CLOCK = re.compile(r"(\d{1,2}) ?o'? ?clock", re.IGNORECASE)
NAMED_TIMES = {
    "noon": "12:00",
    "midday": "12:00",
    "12 noon": "12:00",
    "12:00 noon": "12:00",
    "midnight": "0:00",
    "12 midnight": "0:00",
    "12:00 midnight": "0:00",
}


def read_time(text: str) -> str | None:
    """The time of day that a text gives, as "time 15:30"; None for any other text.

    A ratio such as 3:30 is written like a time of 24 hours, and is taken for one.
    """
    if match := CLOCK.fullmatch(text):
        return on_the_clock(match)
    if match := _O_CLOCK.fullmatch(text):
        text = f"{match[1]}:00"
    match = _TWENTY_FOUR.fullmatch(text)
    if match is None or int(match[1]) > 24 or int(match[2]) > 59 or int(match[3] or 0) > 59:
        return None
    seconds = f":{match[3]}" if match[3] and int(match[3]) else ""
    return f"time {int(match[1]) % 24}:{match[2]}{seconds}"


def on_the_clock(match: re.Match[str]) -> str | None:
    """What `CLOCK` found, in 24 hours; None for 13 PM and the like."""
    hour, minute, second = int(match["hour"]), match["minute"] or "00", match["second"] or "00"
    if not 1 <= hour <= 12 or int(minute) > 59 or int(second) > 59:
        return None
    hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    return f"time {hour}:{minute}" + (f":{second}" if int(second) else "")
