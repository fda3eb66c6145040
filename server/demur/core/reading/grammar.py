"""Which labels and tags exist under each contract, as regular expressions: whole ones, and beginnings of them.

Every repetition is bounded, so a match is never longer than LONGEST_LABEL or LONGEST_TAG characters; that is what lets
the lexer decide from a short tail what may still grow into a label or a tag.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache

from demur.core.answers import Contract, Mode

LONGEST_LABEL = 96
LONGEST_TAG = 400


class Kind(Enum):
    """What a piece of output is. Labels stand at the start of a line; what follows them is TEXT."""

    TEXT = auto()
    ANSWER = auto()
    CONFIDENCE = auto()
    SOLUTION = auto()
    CLAIM_OPEN = auto()
    EXPLANATION_END = auto()
    CLAIM_CLOSE = auto()
    ANSWER_OPEN = auto()
    ANSWER_CLOSE = auto()
    CONFIDENCE_OPEN = auto()
    CONFIDENCE_CLOSE = auto()
    THINK_OPEN = auto()
    THINK_CLOSE = auto()


LABELS = frozenset({Kind.ANSWER, Kind.CONFIDENCE, Kind.SOLUTION})
OPEN_ENDED = frozenset({Kind.ANSWER, Kind.CONFIDENCE})
"""Emphasis or space after the colon belongs to these labels, so at the end of what there is they may still grow."""

_STRICT_PHRASES = {"Answer": Kind.ANSWER, "Confidence": Kind.CONFIDENCE, "Solution": Kind.SOLUTION}
_ANSWER_PHRASES = """answer, final answer, the answer, the final answer, my answer, my final answer, best answer,
    guess, my guess, best guess, my best guess, final guess"""
_CONFIDENCE_PHRASES = """confidence, my confidence, overall confidence, final confidence, stated confidence,
    confidence score, confidence level, confidence rating, confidence value, overall confidence score,
    probability, my probability"""
_SOLUTION_PHRASES = "solution, final solution, the solution, my solution"
_LENIENT_PHRASES = {
    phrase.strip(): kind
    for kind, phrases in (
        (Kind.ANSWER, _ANSWER_PHRASES),
        (Kind.CONFIDENCE, _CONFIDENCE_PHRASES),
        (Kind.SOLUTION, _SOLUTION_PHRASES),
    )
    for phrase in phrases.split(",")
}

_DRESS = ' \t\r>#*_`~•./]"-'
_DECOR = f"[{re.escape(_DRESS)}]"
"""What may stand before a label, and between the label and its colon: markdown, and a quote or bracket left open."""
_AFTER = r"[ \t*_`]{0,16}"
_SPACE = r"\s{0,8}"
_VALUE = r"(?:\"[^\"<>\n]{0,64}\"|'[^'<>\n]{0,64}'|[^\s<>\"']{0,64})"
_PART_OF_VALUE = r"(?:\"[^\"<>\n]{0,64}\"?|'[^'<>\n]{0,64}'?|[^\s<>\"']{0,64})"


@dataclass(frozen=True, slots=True)
class Grammar:
    """The structures of one contract in one mode."""

    phrases: Mapping[str, Kind]
    lenient: bool
    body: re.Pattern[str]
    """Every label, from the newline before it, and tag; the group that matched has the name of its Kind."""
    explanation: Mapping[str, re.Pattern[str]]
    """By the quote that opened it: what may end a claim's explanation."""
    partial: re.Pattern[str]
    """The beginning of a tag, up to the end of what there is."""

    def may_become_label(self, line: str) -> bool:
        """Whether a line that begins like this could turn out to begin with a label."""
        if not self.lenient:
            return any(_extends(line, phrase, " \t\r:") for phrase in self.phrases)
        rest = line.lstrip(_DRESS).lower()
        return any(_extends(rest, phrase, _DRESS + ":：=") for phrase in self.phrases)


def _extends(line: str, phrase: str, after: str) -> bool:
    return phrase.startswith(line) or (line.startswith(phrase) and not line[len(phrase) :].strip(after))


@cache
def grammar(contract: Contract, mode: Mode) -> Grammar:
    """The grammar of one contract; claims know claim tags, the others the element forms seen in the wild."""
    lenient = mode == "lenient"
    kinds = {Kind.ANSWER, Kind.CONFIDENCE} if contract != "claims" else set(LABELS)
    phrases = {p: k for p, k in (_LENIENT_PHRASES if lenient else _STRICT_PHRASES).items() if k in kinds}
    tags: dict[str, str] = {}
    beginnings: list[str] = []
    if contract == "claims":
        tags |= _claim_tags()
        beginnings += [_claim_beginning(), _beginning("</", "Confidence")]
    elif lenient:
        tags |= _element("ANSWER", "answer") | _element("CONFIDENCE", "confidence")
        beginnings += [_beginning(f"<{slash}", name) for name in ("answer", "confidence") for slash in ("", "/")]
    if lenient:
        tags |= _element("THINK", "think")
        beginnings += [_beginning("<", "think"), _beginning("</", "think")]
    if contract == "claims":
        late = _optional(*"value", _SPACE, "=", _SPACE, _PART_OF_VALUE, _SPACE, "/") if lenient else ""
        beginnings.append(rf"[\"']{_SPACE}{late}")
    flags = re.IGNORECASE if lenient else re.NOFLAG
    labels = {"\n": _labels(phrases, lenient), "<": _one_of(tags)}
    # A thought may break off inside a quote: the solution begins all the same.
    heading = _labels({p: k for p, k in phrases.items() if k is Kind.SOLUTION}, lenient)
    ends = {quote: {quote: _explanation_end(lenient), "<": _one_of(tags), "\n": heading} for quote in "\"'"}
    return Grammar(
        phrases,
        lenient,
        re.compile(_by_first(labels), flags),
        {quote: re.compile(_by_first(end), flags) for quote, end in ends.items()},
        re.compile(rf"(?:{'|'.join(beginnings) or '(?!)'})\Z", flags),
    )


def _by_first(rest: Mapping[str, str]) -> str:
    """Patterns by the character they follow. Naming those characters first lets the engine skip all others."""
    return f"[{''.join(rest)}](?:{'|'.join(f'(?<={first})(?:{pattern})' for first, pattern in rest.items())})"


def _one_of(patterns: Mapping[str, str]) -> str:
    return "|".join(f"(?P<{name}>{pattern})" for name, pattern in patterns.items()) or "(?!)"


def _labels(phrases: Mapping[str, Kind], lenient: bool) -> str:
    found: dict[str, str] = {}
    for kind in dict.fromkeys(phrases.values()):
        words = "|".join(sorted((re.escape(p) for p, k in phrases.items() if k is kind), key=len, reverse=True))
        label = rf"(?:{words}){_DECOR}{{0,8}}[:：=]{_AFTER}" if lenient else f"(?:{words}):"
        if kind is Kind.SOLUTION:  # alone on its line, or straight before the first tag
            label += rf"[ \t]{{0,16}}(?:\r?\n{'|(?=<)' if lenient else ''})"
        found[kind.name] = label
    return (rf"{_DECOR}{{0,12}}" if lenient else "") + f"(?:{_one_of(found)})"


def _claim_tags() -> dict[str, str]:
    # `value` is usually unquoted, and the explanation may hold any character: its quote ends it, a tag
    # or a `Solution:` line if that never comes.
    value = rf"\s{{1,8}}value{_SPACE}={_SPACE}(?P<value>{_VALUE})"
    opening = rf"Confidence(?:{value})?(?:\s{{0,8}}/?>|\s{{0,8}}text{_SPACE}={_SPACE}(?P<quote>[\"']))"
    return {"CLAIM_OPEN": opening, "CLAIM_CLOSE": rf"/Confidence{_SPACE}>"}


def _explanation_end(lenient: bool) -> str:
    late = rf"(?:value{_SPACE}={_SPACE}(?P<late>{_VALUE}){_SPACE})?/?" if lenient else ""
    return rf"(?P<EXPLANATION_END>{_SPACE}{late}>)"


def _element(kind: str, name: str) -> dict[str, str]:
    return {f"{kind}_OPEN": rf"{name}{_SPACE}>", f"{kind}_CLOSE": rf"/{name}{_SPACE}>"}


def _beginning(bracket: str, name: str) -> str:
    return bracket[0] + _optional(*bracket[1:], *name, _SPACE)


def _claim_beginning() -> str:
    text = (*"text", _SPACE, "=", _SPACE)
    valued = (r"\s{1,8}", *"value", _SPACE, "=", _SPACE, _PART_OF_VALUE, _SPACE)
    after_name = rf"(?:{_optional(*valued, *text)}|{_optional(_SPACE, *text)}|{_optional(*valued, '/')}|{_SPACE}/?)"
    return "<" + _optional(*"Confidence", after_name)


def _optional(*atoms: str) -> str:
    """Any beginning of the sequence of atoms: a(?:b(?:c)?)? made optional as a whole."""
    nested = ""
    for atom in reversed(atoms):
        nested = f"(?:{atom}{nested})?"
    return nested
