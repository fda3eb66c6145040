"""One ASCII spelling for what people type around numbers: digits of all scripts, signs, LaTeX, HTML, Markdown."""

import html
import re
import unicodedata
from functools import lru_cache

_SIGNS = {
    "%": "％٪﹪",
    "-": "−–—―‒‐‑﹣－",
    "~": "～∼〜˜≈≃≅⁓",
    "<": "＜﹤",
    ">": "＞﹥",
    "<=": "≤⩽≦",
    ">=": "≥⩾≧",
    "/": "／⁄∕÷",
    "x": "×✕⨯",
    ".": "．٫",
    ",": "，、",
    ". ": "。｡",
    ":": "：﹕",
    ";": "；",
    "(": "（【「『［",
    ")": "）】」』］",
    "+": "＋",
    "=": "＝",
    "*": "＊∗",
    "'": "’‘‚′＇",
    '"': "“”„«»″＂",
    "...": "…",
}
_CHARACTERS = {ord(one): plain for plain, many in _SIGNS.items() for one in many}
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))

_DRESSED = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt)?|math(?:rm|bf|it|sf|tt)|operatorname|emph|bm|boldsymbol|mbox|boxed|fbox)\s?"
    r"\{([^{}]{0,200})\}"
)
_LATEX = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r"\\%", "%"),
        (r"\\(?:[,;:! ]|q?quad(?![a-zA-Z])|left(?![a-zA-Z])|right(?![a-zA-Z])|displaystyle(?![a-zA-Z]))", " "),
        (r"\\[()\[\]]|\$", " "),
        (r"\\[dtc]?frac\s?\{([^{}]{1,60})\}\s?\{([^{}]{1,60})\}", r" \1/\2 "),
        (r"\\[dtc]?frac\s?(?:(\d)|\{(\d{1,4})\})\s?(\d)", r" \1\2/\3 "),
        (r"\{([^{}]{1,60})\\over\s([^{}]{1,60})\}", r" \1/\2 "),
        (r"\\(?:times|cdot)(?![a-zA-Z])", "x"),
        (r"\\(?:approx|sim|simeq)(?![a-zA-Z])", "~"),
        (r"\\(?:le|leq|leqslant)(?![a-zA-Z])", "<="),
        (r"\\(?:ge|geq|geqslant)(?![a-zA-Z])", ">="),
        (r"\\lt(?![a-zA-Z])", "<"),
        (r"\\gt(?![a-zA-Z])", ">"),
        (r"\\pm(?![a-zA-Z])", "±"),
        (r"\^\s?\{([^{}]{0,20})\}", r"^(\1)"),
        (r"\{[,.]\}", "."),  # 0{,}9 keeps LaTeX from spacing the comma
    )
)
_HTML_TAG = re.compile(
    r"</?(?:b|i|u|em|strong|span|code|mark|font|small|big|br|p|div|sup|sub|li|ul|ol|h[1-6])(?:\s[^<>]{0,80})?/?>", re.I
)
_STRUCK = re.compile(
    r"~~[^~\n]{1,60}~~|<(s|del|strike)>[^<>\n]{1,60}</\1>|\\(?:x?cancel|sout|st)\s?\{[^{}\n]{1,60}\}", re.I
)
"""What somebody wrote and took back."""
_POWER = re.compile(r"(?<=\d)\*\*(?=\(?[-+]?\d)")
_TIMES = re.compile(r"(?<=\d)\s?\*\s?(?=10\s?\^)")
_SPACES = re.compile(r"[ \t\r\f\v]+")


def plain(text: str) -> str:
    """`text` with every number, sign and space in ASCII, and without markup; lower case, lines kept. Linear."""
    text = without_struck(text)
    text = "".join(map(_character, html.unescape(text) if "&" in text else text)).replace(")^(", "")
    if "\\" in text or "$" in text or "{" in text:
        text = _without_latex(text)
    text = _HTML_TAG.sub("", text) if "<" in text else text
    text = _TIMES.sub("x", _POWER.sub("^", text)) if "*" in text else text
    return _SPACES.sub(" ", text.translate(_EMPHASIS)).lower()


def without_struck(text: str) -> str:
    """`text` without what is struck out in it."""
    return _STRUCK.sub("", text) if "~~" in text or "</" in text or "\\" in text else text


_EMPHASIS = {ord(character): None for character in "*_`"}


def _without_latex(text: str) -> str:
    for _ in range(4):  # dress inside dress
        text, found = _DRESSED.subn(r"\1", text)
        if not found:
            break
    for pattern, plain_form in _LATEX:
        text = pattern.sub(plain_form, text)
    return text


@lru_cache(maxsize=4096)
def _character(character: str) -> str:
    if character < "\x7f":
        return character
    if (known := _CHARACTERS.get(ord(character))) is not None:
        return known
    if character in _RAISED:
        return f"^({_RAISED[character]})"
    if (digit := unicodedata.decimal(character, None)) is not None:
        return str(digit)
    category = unicodedata.category(character)
    if category == "No" and "⁄" in (split := unicodedata.normalize("NFKC", character)):
        return " " + split.replace("⁄", "/") + " "
    return " " if category == "Zs" else "" if category == "Cf" else character
