r"""What people put around an answer: emphasis, code, a box, display maths, quotes, a full stop."""

import json
import re

from demur.core.answers import ParseMode
from demur.core.parsing.boxes import ends_in_open_box, without_boxes
from demur.core.parsing.spelling import without_struck

_UNSEEN = "\u200b\u200e\u200f\ufeff"
"""Marks of direction and the like: they stand around words and are none of them."""
_PICTURE = "(?:[\U0001f300-\U0001faff\u2705\u2714\u2611\u2728][\ufe0f\u200d\U0001f3fb-\U0001f3ff]{0,3})"
_TICK = r"(?<=\w)[\u2705\u2714\u2611]\ufe0f?"
_ARROW = "[\u2192\u21d2\u27a1\u2794]\ufe0f?"
_PICTURE_AT_START = re.compile(rf"\A(?:{_PICTURE}|{_ARROW}){{1,4}}\s{{1,4}}(?=\w|[-$\\*_`]\S)")
_PICTURE_AT_END = re.compile(rf"(?:{_TICK}|\s{{1,4}}(?:{_PICTURE}\s{{0,2}}){{1,4}})\Z")
"""Pictures around an answer. One that is nothing else keeps them, and so does a card with its suit."""
_BLOCKS = ((re.compile(r"\\\["), re.compile(r"\\\]")), (re.compile(r"\\begin\{"), re.compile(r"\\end\{")))
BLOCK_CLOSERS = "]}$"
"""No block over several lines, and no box, ends without one of these."""
_SEQUENCE = re.compile(r"<s>([^<>\n]{1,60})</s>", re.IGNORECASE)
"""All of an answer between the tokens that open and close a sequence."""
_DISPLAY = re.compile(r"\\\[(.*)\\\]|\$\$(.*)\$\$", re.DOTALL)
_FENCED = re.compile(r"(`{3,}|~{3,})[^\n]*\n(.*?)\n?\s*\1?\s*", re.DOTALL)
_EMPHASIS = ("**", "__", "*", "_")
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "‘": "’", "'": "'"}
_MARKUP_AT_START = re.compile(r"\s*</(?:b|strong|em|i|u|span|font|mark|p|h[1-6])>\s*", re.IGNORECASE)
_MARKUP_AT_END = re.compile(r"\s*<(?:br\s?/?|/(p|div|li|span|b|i|em|strong|h[1-6]))>\s*$", re.IGNORECASE)
_MARKUP_AROUND = re.compile(
    r"<(b|strong|em|i|u|span|p|div|mark|font)(?:\s[^<>]{0,60})?>(.*)</\1>", re.IGNORECASE | re.DOTALL
)
_CODE = re.compile(r"(`{1,2})(?!`)(.+?)(?<!`)\1", re.DOTALL)
_DUNDER = re.compile(r"__[a-z][a-z0-9]*(?:_[a-z0-9]+)*__")
_LABEL = re.compile(r"(.*[:：=])([ \t*_`]*)", re.DOTALL)
_ABBREVIATED = re.compile(
    r"(?:\b[^\W\d]\.\s?\w{1,2}|\b(?:etc|inc|ltd|co|corp|jr|sr|st|mt|dr|mr|mrs|ms|prof|vs|no|approx|bros|dept|est|govt"
    r"|ave|blvd|rd|vol|ed|gen|col|sgt|capt|lt|rev|hon|ph\.d|usw|bzw|ca|km/h))\.",
    re.IGNORECASE,
)


_OPENED = re.compile(r"[\s$]{0,4}(?:\\[(\[])?\s{0,4}\\(?:boxed|fbox)\s{0,4}\{")
"""A box that was cut off before it held anything."""
_IN_TEXT = re.compile(r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf))\s?\{([^{}\\$]*)\}")
"""Plain words as TeX is told to set them, around all of an answer."""


def tidy(answer: str | None, mode: ParseMode, label: str = "") -> str | None:
    """The answer without formatting around it. None if nothing is left.

    Lenient drops what stands around all of it, in pairs: emphasis, code, display maths' brackets, a box; and a full
    stop that ends no abbreviation. `label` is what stood before it: emphasis that opened there may close here.
    """
    if answer is None or not answer.strip():
        return None
    if mode == "strict":
        return answer.strip()
    if answer.isalnum():
        return answer
    if "~~" in answer or "</" in answer or "\\" in answer:
        rest = without_struck(answer)
        answer = rest if rest.strip(" ~*_") else _SEQUENCE.sub(r"\1", answer)
    bare = _quoted_in_json(answer.strip().strip(_UNSEEN).strip(), label)
    bare = _without_pictures(_without_loose_ends(bare, label))
    for _ in range(8):
        if (code := in_code(bare)) is not None:
            return without_boxes(code) or code
        plain = _unwrapped(bare)
        if plain == bare:
            break
        bare = plain
    return None if _OPENED.fullmatch(bare) else bare or None


def in_code(bare: str) -> str | None:
    """What inline code around all of an answer holds: it is meant as it stands there."""
    match = _CODE.fullmatch(bare.removesuffix(".") if bare.endswith("`.") else bare)
    return match[2].strip() or None if match and match[1] not in match[2] else None


def split_label(label: str) -> tuple[str, str]:
    """The label itself, and emphasis behind it that opens the value: of `Answer: **`, but not of `**Answer:** `."""
    bare = label.rstrip()
    if bare.endswith((":", "：", "=")):
        return bare, ""
    match = _LABEL.fullmatch(label)
    if match is None:
        return label, ""
    own, after = match[1], match[2].strip()
    for marker in ("**", "__", "`", "*", "_"):
        if own.replace(marker * 2, "").count(marker) % 2 and after.startswith(marker):
            own, after = own + marker, after.removeprefix(marker).lstrip()
    return own, after


def is_unfinished(value: str) -> bool:
    r"""Whether a value has opened a block that goes on: `\[`, `$$`, `\begin{...}`, a box."""
    if "\\" not in value and "$$" not in value:
        return False
    if any(len(opens.findall(value)) > len(closes.findall(value)) for opens, closes in _BLOCKS):
        return True
    if value.count("$$") % 2:
        return True
    return ends_in_open_box(value)


def same_words(one: str, other: str) -> bool:
    """Whether two labelled answers say the same but for their dress; nothing is worked out."""
    if one == other:
        return True
    return _bare(one) == _bare(other)


def _bare(answer: str) -> str:
    return re.sub(r"[\s$]+", "", tidy(answer[:2000], "lenient") or "").casefold()


def _unwrapped(bare: str) -> str:
    """One layer less."""
    bare = bare.strip()
    display = _DISPLAY.fullmatch(bare)
    if display is not None:
        return (display[1] if display[1] is not None else display[2]).strip()
    if (boxed := without_boxes(bare)) is not None:
        return boxed
    if (words := _IN_TEXT.fullmatch(bare)) is not None:
        return words[1].strip() or bare
    if (plain := _without_markup(bare)) != bare:
        return plain
    if len(bare) > 2 and _QUOTES.get(bare[0]) == bare[-1] and not {bare[0], bare[-1]} & set(bare[1:-1]):
        return bare[1:-1].strip() or bare
    if not _DUNDER.fullmatch(bare):
        for marker in _EMPHASIS:
            inside = bare[len(marker) : -len(marker)]
            wraps = len(bare) > 2 * len(marker) and bare.startswith(marker) and bare.endswith(marker)
            if wraps and inside.strip() and marker not in inside:
                return inside.strip()
    if bare.endswith((".", "。")) and not bare.endswith("..") and not _ABBREVIATED.search(bare[-12:]):
        return bare[:-1].rstrip()
    return bare


def _without_pictures(bare: str) -> str:
    if bare.isascii():
        return bare
    plain = _PICTURE_AT_END.sub("", _PICTURE_AT_START.sub("", bare))
    return plain if any(map(str.isalnum, plain)) else bare


def unwrapped_markup(answer: str) -> str:
    """The text of an HTML element around all of an answer."""
    around = _MARKUP_AROUND.fullmatch(answer) if answer.startswith("<") else None
    return around[2].strip() or answer if around else answer


def _without_markup(bare: str) -> str:
    """Ends of HTML elements that began before the answer, and breaks; an answer that is nothing else keeps them."""
    if "<" not in bare:
        return bare
    start = _MARKUP_AT_START.match(bare)
    plain = bare[start.end() :] if start else bare
    end = _MARKUP_AT_END.search(plain)
    if end is not None and (end[1] is None or f"<{end[1].lower()}" not in plain.lower()):
        plain = plain[: end.start()]
    return plain.strip() or bare


def _without_loose_ends(bare: str, label: str) -> str:
    """Emphasis whose other end stands in the label, or nowhere."""
    for marker in ("**", "__", "`", "*", "_"):
        opened = label.replace(marker * 2, "").count(marker) % 2
        if opened and bare.rstrip(". ").endswith(marker) and bare.count(marker) % 2 == 1:
            return bare.rstrip(". ").removesuffix(marker).rstrip()
    for marker in ("**", "``"):
        if bare.count(marker) == 1 and bare.startswith(marker) and bare.strip(marker):
            return bare.removeprefix(marker).lstrip()
    return bare


def _quoted_in_json(bare: str, label: str) -> str:
    """Behind `"answer":` stands a JSON value, and a comma."""
    if '"' not in label:
        return bare
    value = bare.rstrip(" \t}]").removesuffix(",").rstrip() if bare.startswith('"') else bare.removesuffix(",")
    if value.startswith('"') and value.endswith('"') and len(value) > 1:
        try:
            return str(json.loads(value)).strip()
        except ValueError:
            return value[1:-1].strip()
    return value
