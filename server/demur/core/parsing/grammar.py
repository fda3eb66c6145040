"""Which labels and tags exist under each contract, as regular expressions: whole ones, and beginnings of them.

Every repetition is bounded, so a match is never longer than LONGEST_LABEL or LONGEST_TAG characters; that is what lets
the lexer decide from a short tail what may still grow into a label or a tag.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from demur.core.answers import ParseMode
from demur.core.parsing.before_labels import (
    BEGINS_BEHIND_LEADING,
    BEGINS_WRAPPING,
    DECOR,
    LEADING,
    LEADING_TO_ANSWER,
    MARKUP,
    WRAPPING,
    before_labels,
)
from demur.core.parsing.kinds import Kind
from demur.core.parsing.labels import LABELS as SPOKEN
from demur.core.parsing.labels import STRICT, Labels
from demur.core.parsing.tags import (
    PART_OF_VALUE,
    SPACE,
    beginning,
    claim_beginning,
    claim_tags,
    element,
    explanation_end,
    optional,
    specials,
    struck,
    template_beginnings,
    thoughts,
)
from demur.core.parsing.templates import RESPONSE_SAID, THOUGHT_SAID, TURNS
from demur.core.parsing.tries import any_case, any_of

LONGEST_LABEL = 360
LONGEST_TAG = 400


_AFTER = r"[ \t*_`]{0,16}"
_PERCENT = r"(?:%|％|per ?cent(?:age)?\b|pct\b|prozent\b|pour ?cent(?:age)?\b|porcentaje\b|porcentagem\b)"
_TOP = r"[0-9]{1,4}[ \t]?(?:%|point scale)?"
_SPAN = rf"(?:0|1|0\.0|1\.0)[ \t]?%?[ \t]?(?:[-–—]|to|and)[ \t]?{_TOP}"
_SCALE = (
    rf"(?:[ \t]?/[ \t]?{_TOP}|[ \t,]{{0,2}}(?:(?:in|as|en|em)[ \t](?:an?[ \t])?)?{_PERCENT}"
    rf"|[ \t,]{{1,2}}(?:(?:on|using)[ \t](?:an?|the)[ \t])?(?:scale[ \t])?(?:(?:of|from|between)[ \t])?{_SPAN}"
    rf"|[ \t,]{{1,2}}out of[ \t]{_TOP}|[ \t]on an?[ \t]{_TOP})"
)
"""The scale that a label names without brackets: Confidence in %, Confidence /100, Confidence from 0 to 10."""
_REMARK = r"(?:[(\[（](?!/?(?:think|inst|eos|bos|pad)\])[^()\[\]（）<◁\n]{1,40}[)\]）])?"
"""What a label may say in brackets before its colon: the scale, above all."""
_FENCE = r"[ \t]{0,3}(?:`{3,12}[^`<\n]{0,64}|~{3,12}[^<\n]{0,64})"
_BEGINS_FENCE = re.compile(r"[ \t]{0,3}(?:`{0,2}|~{0,2})|" + _FENCE)
_UNDERLINE = r"[ \t]{0,4}(?:\r?\n[ \t]{0,3}(?:={0,40}|-{0,40})[ \t]{0,4}\r?)?"
_BETWEEN = rf"(?:[^:：=\n]{{0,70}}(?:[:：=]{_AFTER}[ \t]{{0,16}}\r?)?|{_UNDERLINE})"
_TAG_OPENS = "<[◁"
_LEADING = re.compile("|".join(sorted(map(re.escape, LEADING), key=len, reverse=True)), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Grammar:
    """The structures of one contract in one mode."""

    lenient: bool
    special: Mapping[str, re.Pattern[str]]
    """By the quote that is open: any character or word that a structure begins with."""
    body: re.Pattern[str]
    """Every label, from the newline before it, and tag; the group that matched has the name of its Kind."""
    body_without_tags: re.Pattern[str]
    """The same for a text that has none of `tag_opens`: much faster."""
    line: re.Pattern[str]
    """Every label, without a newline before it."""
    explanation: Mapping[str, re.Pattern[str]]
    """By the quote that opened it: what may end a claim's explanation."""
    partial: re.Pattern[str]
    """The beginning of a tag, up to the end of what there is."""
    starts: Mapping[str, re.Pattern[str]]
    """By the quote that is open: what a tag, or the end of that quote, may begin with."""
    tag_opens: str
    """What a tag may begin with."""
    prefixes: frozenset[str]
    """All beginnings of the phrases that labels are made of."""
    longer: re.Pattern[str]
    """A whole phrase, and the beginning of what may stand between it and its value."""
    fences: bool

    def may_become_label(self, line: str) -> bool:
        """Whether a line that begins like this could turn out to begin with a label, or to be a fence."""
        if self.fences and _BEGINS_FENCE.fullmatch(line) is not None:
            return True
        wrapped = WRAPPING.match(line) if self.lenient else None
        rest = line[wrapped.end() :] if wrapped else line
        if self._begins(rest.lower() if self.lenient else rest):
            return True
        if not self.lenient:
            return False
        if BEGINS_WRAPPING.fullmatch(rest):
            return True
        leading = _LEADING.match(rest)
        behind = rest[leading.end() :] if leading else rest
        if leading and BEGINS_BEHIND_LEADING.fullmatch(behind):
            return True
        after = BEGINS_BEHIND_LEADING.match(behind) if leading else None
        return after is not None and self._begins(behind[after.end() :].lower())

    def _begins(self, rest: str) -> bool:
        return rest in self.prefixes or self.longer.fullmatch(rest) is not None


@cache
def grammar(has_claims: bool, mode: ParseMode, labels: Labels = SPOKEN) -> Grammar:
    """The grammar of contracts with claims, which knows claim tags, or of others, with elements seen in the wild."""
    lenient = mode == "lenient"
    phrases = _phrases(labels if lenient else STRICT, has_claims)
    tags: dict[str, str] = {}
    beginnings: list[str] = []
    if has_claims:
        tags |= claim_tags()
        beginnings += [claim_beginning(), beginning("</", "Confidence")]
    elif lenient:
        tags |= element("ANSWER", "answer") | element("CONFIDENCE", "confidence")
        beginnings += [beginning(f"<{slash}", name) for name in ("answer", "confidence") for slash in ("", "/")]
    if lenient:
        tags |= struck() | thoughts() | specials()
        beginnings += template_beginnings()
    if has_claims:
        late = optional(*"value", SPACE, "=", SPACE, PART_OF_VALUE, SPACE, "/") if lenient else ""
        beginnings.append(rf"[\"']{SPACE}{late}")
    flags = re.IGNORECASE if lenient else re.NOFLAG
    opens = _TAG_OPENS if lenient else "<"
    fences = lenient and not has_claims
    lines = _labels(phrases, lenient) + (rf"|(?P<FENCE>{_FENCE})(?=\r?\n|\Z)" if fences else "")
    # A thought may break off inside a quote: the solution begins all the same.
    heading = _labels({k: words for k, words in phrases.items() if k is Kind.SOLUTION}, lenient)
    ends = {quote: {quote: explanation_end(lenient), opens: _one_of(tags), "\n": heading} for quote in "\"'"}
    words = frozenset(word for some in phrases.values() for word in some)
    leading = frozenset(word[:end] for word in LEADING for end in range(len(word) + 1)) if lenient else frozenset[str]()
    return Grammar(
        lenient,
        {
            quote: re.compile(f"[\n{re.escape(opens + quote)}]" + ("|assistant" if lenient else ""))
            for quote in ("", '"', "'")
        },
        re.compile(_by_first({"\n": lines, opens: _one_of(tags)}), flags),
        re.compile(rf"\n(?:{lines})", flags),
        re.compile(lines, flags),
        {quote: re.compile(_by_first(end), flags) for quote, end in ends.items()},
        re.compile(rf"(?:{'|'.join(beginnings) or '(?!)'})\Z", flags),
        {quote: re.compile(f"[{re.escape(opens + quote)}]") for quote in ("", '"', "'")},
        opens,
        frozenset(word[:end] for word in words for end in range(len(word) + 1)) | leading,
        re.compile(any_of(words) + (_BETWEEN if lenient else r"[ \t\r:]*"), flags),
        fences,
    )


def _phrases(labels: Labels, has_claims: bool) -> dict[Kind, frozenset[str]]:
    """A phrase that announces two things announces the first of them."""
    found = {Kind.ANSWER: labels.answer, Kind.CONFIDENCE: labels.confidence - labels.answer}
    found |= {Kind.SOLUTION: labels.solution - labels.answer} if has_claims else {}
    if labels is STRICT:
        return found
    return found | {Kind.TURN: TURNS, Kind.THOUGHT_SAID: THOUGHT_SAID, Kind.RESPONSE_SAID: RESPONSE_SAID}


def _by_first(rest: Mapping[str, str]) -> str:
    """Patterns by the character they follow. Naming those characters first lets the engine skip all others."""
    branches = "|".join(f"(?<=[{re.escape(first)}])(?:{pattern})" for first, pattern in rest.items())
    return f"[{re.escape(''.join(rest))}](?:{branches})"


def _one_of(patterns: Mapping[str, str]) -> str:
    return "|".join(f"(?P<{name}>{pattern})" for name, pattern in patterns.items()) or "(?!)"


def _labels(phrases: Mapping[Kind, Iterable[str]], lenient: bool) -> str:
    if not lenient:
        return f"(?:{_one_of({kind.name: _strict_label(kind, words) for kind, words in phrases.items()})})"
    found = {kind.name: _label(kind, any_case(words)) for kind, words in phrases.items()}
    anything = any_case([*LEADING, *(word for words in phrases.values() for word in words)])
    either = any_case(word for word in LEADING if word not in LEADING_TO_ANSWER)
    return before_labels(any_case(LEADING_TO_ANSWER), either, anything) + f"(?:{_one_of(found)})"


def _strict_label(kind: Kind, words: Iterable[str]) -> str:
    return f"{any_of(words)}:" + (r"[ \t]{0,16}(?:\r?\n)" if kind is Kind.SOLUTION else "")


def _label(kind: Kind, words: str) -> str:
    colon = rf"{DECOR}{{0,8}}(?:{MARKUP})?{_REMARK}{DECOR}{{0,8}}[:：=]"
    heading = rf"(?:(?<=[#*_>])|(?<=[#*_] )){words}(?:[*_ \t#]|{MARKUP}){{0,6}}(?=\r?\n)"
    plain = r"(?<![#*_>])(?<![#*_>] )"  # what is a heading already needs no line under it
    underline = r"[ \t]{0,4}\r?\n[ \t]{0,3}(?:={3,40}|-{3,40})[ \t]{0,4}(?=\r?\n)"
    match kind:
        case Kind.SOLUTION:  # alone on its line, or straight before the first tag
            return rf"{words}{colon}{_AFTER}[ \t]{{0,16}}(?:\r?\n|(?=<))"
        case Kind.TURN:
            numbered = (
                rf"(?<=[#*])[ ]?{words}[ ]?[0-9]{{1,3}}[*_]{{0,2}}(?=\r?\n)|(?<=[#*] ){words}[ ]?[0-9]{{1,3}}(?=\r?\n)"
            )
            return rf"{words}(?:[ \t]?[0-9]{{1,3}})?[*_\]]{{0,3}}[:：]{_AFTER}|user[ \t]{{0,4}}(?=\r?\n)|{numbered}"
        case Kind.THOUGHT_SAID | Kind.RESPONSE_SAID:
            return rf"{words}[*_]{{0,3}}[:：]{_AFTER}"
        case Kind.CONFIDENCE:
            return rf"(?(led)(?!))(?:{words}{_SCALE}?{colon}{_AFTER}|{plain}{words}{underline}|{heading})"
        case _:
            return rf"{words}{colon}{_AFTER}|{plain}{words}{underline}|{heading}"
