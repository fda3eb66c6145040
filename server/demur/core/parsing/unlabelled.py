"""Answers and confidences without a label of their own: a table, `#### 42`, a list of guesses, the other's line."""

import re

from demur.core.parsing.labels import LABELS, Labels
from demur.core.parsing.objects import Pair
from demur.core.parsing.stated_confidence import read_probability

_MOST_ROWS = 200
_HASHES = re.compile(r"^####[ \t]{1,8}([-+$\\(\d][^\n]{0,200})$", re.MULTILINE)
_GUESS = re.compile(
    r"^[ \t*_-]{0,8}(?:G|Guess |Candidate |Answer )(\d{1,2})[*_ ]{0,4}[:=][ \t*_]{0,4}(\S[^\n]{0,200})$", re.M | re.I
)
_SHARE = re.compile(
    r"^[ \t*_-]{0,8}(?:P|Probability |Confidence )(\d{1,2})[*_ ]{0,4}[:=][ \t*_]{0,4}(\S[^\n]{0,60})$", re.M | re.I
)
_LISTED = re.compile(
    r"[ \t*_]{0,4}(\d{1,2})[.)][ \t]{1,4}(\S[^\n]{0,80}?)[ \t*_]{0,4}(?:[:,–—-][ \t]{0,4}|[(\[])"
    r"((?:0?\.\d{1,4}|\d{1,3}(?:\.\d{1,3})?[ ]?%))[)\]]?[ \t*_.;,]{0,4}"
)
_TABLE_RULE = re.compile(r"[\s|:-]+")
_LAST_PART = re.compile(
    r"(.+?)\s{0,4}(?:[,;|/]|\s[-–—]\s)\s{0,4}([^,;|/]{1,40})|(.+?)\s{0,4}\(([^()]{1,40})\)", re.DOTALL
)
_ANSWER_BEHIND = re.compile(r"\s{0,4}[|,;]\s{0,4}(?:my |the )?(?:final )?answer\s{0,2}[:=]\s{0,4}(.+)", re.IGNORECASE)


def in_table(text: str, labels: Labels = LABELS) -> Pair | None:
    """The last row of a Markdown table with such a heading, or a table whose rows are such pairs."""
    lines = [line.strip() for line in text.splitlines()[-_MOST_ROWS:]]
    rows = [[_bare(cell) for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    rows = [row for row in rows if not _TABLE_RULE.fullmatch("|".join(row) or "|")]
    if len(rows) < 2:
        return None
    columns = {kind: i for i, cell in enumerate(rows[0]) if (kind := _kind(cell, labels))}
    if len(rows[0]) == 2 and len(columns) < 2:
        pairs = {kind: row[1] for row in rows if len(row) == 2 and (kind := _kind(row[0], labels))}
    else:
        pairs = {kind: rows[-1][i] for kind, i in columns.items() if i < len(rows[-1])}
    return Pair(pairs.get("answer"), pairs.get("confidence")) if pairs.get("answer") else None


def after_hashes(text: str) -> str | None:
    """What stands behind the last `####`, as in GSM8K's solutions; a heading does not begin with a number."""
    found = _HASHES.findall(text)
    return found[-1].strip() if found else None


def last_part(value: str) -> Pair:
    """`B, 85%` behind a label that announces both."""
    match = _LAST_PART.fullmatch(value.strip())
    if match is None:
        return Pair(value, None)
    return Pair(match[1] or match[3], match[2] or match[4])


def answer_behind(stated: str) -> Pair | None:
    """`0.9 | Answer: B` behind a label for the confidence."""
    match = _ANSWER_BEHIND.search(stated)
    return None if match is None else Pair(match[1], stated[: match.start()])


def _bare(cell: str) -> str:
    return cell.strip().strip("*_`").strip()


def _kind(cell: str, labels: Labels) -> str | None:
    name = re.sub(r"\s*[(\[][^()\[\]]*[)\]]$", "", cell).strip(" :").lower()
    return "answer" if name in labels.answer else "confidence" if name in labels.confidence else None


def best_guess(text: str) -> Pair | None:
    """The first of a list of guesses, each with its probability, if it is the likeliest: G1, P1; 1. Paris (80%)."""
    pairs = _numbered_pairs(text) or _list_with_shares(text)
    shares = [read_probability(pair.stated or "").value for pair in pairs]
    known = [share for share in shares if share is not None]
    if len(pairs) < 2 or len(known) != len(pairs) or known[0] < max(known):
        return None
    return pairs[0]


def _numbered_pairs(text: str) -> list[Pair]:
    if not _GUESS.search(text):
        return []
    guesses = {int(match[1]): match[2] for match in _GUESS.finditer(text)}
    shares = {int(match[1]): match[2] for match in _SHARE.finditer(text)}
    if sorted(guesses) != sorted(shares) or sorted(guesses) != list(range(1, len(guesses) + 1)):
        return []
    return [Pair(guesses[number].strip(), shares[number].strip()) for number in sorted(guesses)]


def _list_with_shares(text: str) -> list[Pair]:
    """A text that is nothing but such a list, with a line before it at most; the shares fall and fit in one."""
    lines = [line for line in text.strip().splitlines()[: _MOST_ROWS + 1] if line.strip()]
    items = [match for line in lines if (match := _LISTED.fullmatch(line))]
    others = len(lines) - len(items)
    if others > 1 or (others and lines and _LISTED.fullmatch(lines[0])):
        return []
    if [int(item[1]) for item in items] != list(range(1, len(items) + 1)):
        return []
    shares = [read_probability(item[3]).value or 0.0 for item in items]
    falling = shares == sorted(shares, reverse=True) and sum(shares) <= 1.02
    return [Pair(item[2].strip(" *_:,-"), item[3]) for item in items] if falling else []
