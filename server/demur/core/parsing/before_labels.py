"""What may stand before a label on its line: Markdown, HTML, an emoji, an item's number, a word that leads on."""

import re

EMOJI = (
    "\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\ufe0e\ufe0f\u200d\u20e3"
    "\U0001f000-\U0001faff"
)
"""For a character class: arrows, signs and pictures, and what joins them."""
DRESS = ' \t\r\u00a0\u202f\u200b\u200e\u200f\ufeff>#*_`~•./]"-'
DECOR = f"[{re.escape(DRESS)}{EMOJI}]"
"""What may also stand between the label and its colon: markdown, an emoji, and a quote or bracket left open."""
MARKUP = r"</?(?:b|i|u|p|em|strong|div|span|li|h[1-6]|font|mark|small|big)(?:[ ][^<>\n]{0,20})?>"
ITEM = r"(?:[0-9]{1,2}(?:[.)、]|\ufe0f?\u20e3))"
"""The number of an item of a list."""

_TO_AN_ANSWER = """so, thus, therefore, hence, finally, lastly, now, in conclusion, in summary, to conclude, to sum up,
    to summarize, as a result, okay, ok"""
_EITHER = """still, actually, wait, hmm, and, but, overall, on reflection, upon reflection, on second thought,
    on second thoughts"""
LEADING_TO_ANSWER = tuple(word.strip() for word in _TO_AN_ANSWER.split(","))
"""Words that announce an answer. A probability behind them is the answer itself, and no confidence."""
LEADING = (*LEADING_TO_ANSWER, *(word.strip() for word in _EITHER.split(",")))
_BEHIND_LEADING = r"[,:;.!…–—-]{0,3}[ \t]{1,3}"

_DRESSED = f"[{re.escape(DRESS)}{EMOJI}]"
_WRAPPED = rf"{_DRESSED}{{0,16}}+(?:{MARKUP}{_DRESSED}{{0,4}}+){{0,2}}+"
_TASK = rf"(?:\[x\][ \t]{{1,3}}{_DRESSED}{{0,4}}+)?+"
"""A task that is ticked: - [x] Answer: 4. One that is not is no answer."""
_BRACKET = r"(?:\[(?=[^\[\]\n]{1,60}\][*_ \t]{0,4}[:：=]))?+"
"""[Answer]: 4, but not [Answer: 4]."""


def before_labels(to_answer: str, either: str, anything: str) -> str:
    """The pattern of all that may stand before a label; its group `led` is there where only an answer may follow.

    `to_answer` and `either` are patterns for the words that lead on, `anything` for those and the labels' together: one
    look at them spares nearly every line the looks at each kind of label.
    """
    behind = rf"{_BEHIND_LEADING}{_DRESSED}{{0,4}}+"
    leading = rf"(?:(?P<led>{to_answer}{behind})|{either}{behind})?"
    return rf"{_WRAPPED}(?:{ITEM}{_WRAPPED})?+{_TASK}{_BRACKET}(?={anything}){leading}"


WRAPPING = re.compile(rf"{_WRAPPED}(?:{ITEM}{_WRAPPED})?+{_TASK}\[?+", re.IGNORECASE)
BEGINS_WRAPPING = re.compile(r"[0-9]{0,2}\ufe0f?|x\]?|</?\w{0,8}(?:[ ][^<>\n]{0,20})?", re.ASCII | re.IGNORECASE)
BEGINS_BEHIND_LEADING = re.compile(rf"{_BEHIND_LEADING}{_DRESSED}{{0,4}}+|[,:;.!…–—-]{{0,3}}[ \t]{{0,3}}")
