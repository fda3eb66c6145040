"""Many words as one regular expression that branches character by character: hundreds cost like a few."""

import re
from collections.abc import Iterable

_CHUNK = 20


def any_of(words: Iterable[str], fold: bool = False) -> str:
    """One pattern for all of them, longest first, that branches character by character: hundreds cost like a few."""
    by_first: dict[str, set[str]] = {}
    for word in words:
        by_first.setdefault(word[:1], set()).add(word[1:])
    optional = by_first.pop("", None) is not None
    branches = [(_cases(c) if fold else re.escape(c)) + any_of(rest, fold) for c, rest in sorted(by_first.items())]
    if fold and len(branches) > 2 * _CHUNK:
        branches = _in_chunks(branches, sorted(by_first))
    return f"(?:{'|'.join(branches)}){'?' * optional}" if branches else ""


def _in_chunks(branches: list[str], firsts: list[str]) -> list[str]:
    """Alternatives by the dozen, so that most of them are passed over together."""
    chunks: list[str] = []
    for start in range(0, len(branches), _CHUNK):
        some = slice(start, start + _CHUNK)
        known = "".join(_cases(first).strip("[]") for first in firsts[some])
        chunks.append(f"(?=[{known}])(?:{'|'.join(branches[some])})")
    return chunks


def _cases(character: str) -> str:
    upper = character.upper()
    return f"[{character}{upper}]" if len(upper) == 1 and upper != character else re.escape(character)


def any_case(words: Iterable[str]) -> str:
    """One pattern for all of the words, as `any_of`, in any case. Both cases are spelled out, because the engine then
    passes over a branch whose first character is not there."""
    return f"(?-i:{any_of(words, fold=True)})"
