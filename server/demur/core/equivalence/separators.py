"""What separates the digits of a number: 1,234,567.5 and 1 234 567,5 and 1'234'567.5."""

import re

_SEPARATED = re.compile(r"\d[, .'_]\d{3}")
_THOUSANDS = re.compile(
    r"(?<![\d.,])[1-9]\d{0,2}(?:(?:,\d{3})+(?!\d|,\d)|(?: \d{3})+(?!\d|,\d)|(?:'\d{3})+(?![\d'])|(?:_\d{3})+(?![\d_]))"
)
_DECIMAL_COMMA = re.compile(
    r"(?<![\d.,])[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?:[ ']\d{3})+,\d+|(?:\.\d{3}){2,})(?![\d,]|\.\d)"
)
_ONE_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d+)(?![\d.,])")
_INDIAN = re.compile(r"(?<![\d.,])\d{1,2}(?:,\d{2})+,\d{3}(?![\d,])")


def without_thousands(text: str) -> str:
    """1,234,567 and 1 234 567, 1'234'567 and 1_234_567 without the separators, and 1.234,5 as 1234.5. "1, 234" and
    "(1,234)" are lists and stay."""
    if text[:1] in "([{\\" and text[-1:] in ")]}":
        return text
    if _SEPARATED.search(text) is None:
        return text
    text = _DECIMAL_COMMA.sub(lambda match: re.sub("[. ']", "", match[0]).replace(",", "."), text)
    return _THOUSANDS.sub(lambda match: re.sub("[, '_]", "", match[0]), text)


def as_one_number(text: str) -> str | None:
    """What looks like a list, spelled as the one number that it may be: 3,14 with a decimal comma, 12,34,567 as it is
    grouped in India. None where it can be no number: 3,141 is three thousand and more."""
    if "," not in text or len(text) > 60:
        return None
    if _INDIAN.search(text):
        return _INDIAN.sub(lambda match: match[0].replace(",", ""), text)
    if text.count(",") == 1 and (match := _ONE_COMMA.search(text)):
        return f"{text[: match.start()]}{match[1]}.{match[2]}{text[match.end() :]}"
    return None
