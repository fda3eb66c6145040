r"""Labels inside TeX's boxes and before them: `\\boxed{\\text{Answer: 42}}`, and boxes that hold a confidence."""

import re
from collections.abc import Iterable

from demur.core.parsing.labels import LABELS

_CHANCES = ("prob", "chance", "likel", "wahrschein", "waarschijn", "prawdopod", "вероят", "olasılık")
_CHANCES_ELSEWHERE = ("概率", "機率", "確率", "확률", "الاحتمال", "प्रायिकता", "संभावना")


def _one_of(phrases: Iterable[str]) -> str:
    return "|".join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True))


_ANSWER = _one_of(LABELS.answer)
_SURE = _one_of(p for p in LABELS.confidence if not any(word in p for word in (*_CHANCES, *_CHANCES_ELSEWHERE)))
"""Words for how sure somebody is. Those for a chance are left out: many a question asks for one."""
_LONGEST = 400

_LABELLED = re.compile(
    rf"(?P<dress>\\[a-z]{{2,8}}\s?\{{)?\s{{0,4}}(?:{_ANSWER})\s{{0,3}}[:：]\s{{0,4}}(?P<rest>\S[^{{}}]*)(?(dress)\}})",
    re.IGNORECASE,
)
_INSIDE = re.compile(
    rf"(?:\\[a-z]{{2,8}}\s?\{{)?\W{{0,4}}(?:{_SURE})\b(?: level| score)?\s{{0,3}}(?:[:：=]|is\b)", re.IGNORECASE
)
_BEFORE = re.compile(
    rf"(?<!\w)(?<!and )(?:{_SURE})\b(?: score)?(?: (?:that|in|of|about) [^.:=\n]{{0,60}}?)?[ \t]{{0,3}}"
    r"(?:[:：=≈]|\b(?:is|of|at|ist|est|es|jest)|[èé])[ \t$*]{0,4}(?:\\[(\[])?[ \t]{0,4}$",
    re.IGNORECASE,
)


def without_label(inside: str) -> str:
    """What a box holds, without the label of an answer that stands in it too."""
    labelled = _LABELLED.fullmatch(inside) if len(inside) <= _LONGEST else None
    return labelled["rest"].strip() if labelled else inside


def says_how_sure(before: str, inside: str) -> bool:
    """Whether a box holds a confidence, by what stands in it or right before it, and so no answer."""
    return bool(_INSIDE.match(inside) or _BEFORE.search(before))
