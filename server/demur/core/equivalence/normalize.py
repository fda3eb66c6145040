"""The one spelling of an answer: Unicode, LaTeX wrappers and layout commands out of the way."""

import re
import unicodedata

from demur.core.equivalence.latex import one_spelling

MAX_CHARS = 2_000
"""Longer answers are no formulas anybody compares by value; only their white space is brought into one form."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
_VULGAR = re.compile(r"(\d?)([¼½¾⅐-⅞])")
_SYMBOLS = str.maketrans(
    {
        **dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014", "-"),
        **dict.fromkeys("\u201c\u201d", '"'),
        **dict.fromkeys("\u2018\u2019", "'"),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""),
        "\u00d7": "*",
        "\u22c5": "*",
        "\u00b7": "*",
        "\u00f7": "/",
        "\u2044": "/",
        "\u2215": "/",
        "\u03c0": r"\pi ",
        "\u221a": r"\sqrt ",
        "\u221e": r"\infty ",
        "\u2264": r"\le ",
        "\u2265": r"\ge ",
        "\u2260": r"\ne ",
        "\u2208": r"\in ",
        "\u222a": r"\cup ",
        "\u2229": r"\cap ",
        "\u00b1": r"\pm ",
        "\u2205": r"\emptyset ",
        "\u03b8": r"\theta ",
        "\u2220": r"\angle ",
        "\u2026": "...",
        "\u2032": "'",
        "\u2033": '"',
        "\u211d": r"\mathbb{R} ",
        "\u2115": r"\mathbb{N} ",
        "\u2124": r"\mathbb{Z} ",
        "\u211a": r"\mathbb{Q} ",
        "\u2102": r"\mathbb{C} ",
        "\u2216": r"\setminus ",
        "\u2227": r"\land ",
        "\u2228": r"\lor ",
    }
)

_COMMANDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\(?:left|right|[bB]igg?[lr]?)(?![a-zA-Z])\s*\.?(?=[()\[\]{}|\\]|$|\s)", ""),
        (r"\\(?:displaystyle|textstyle|limits|nolimits|mathstrut)(?![a-zA-Z])", ""),
        (r"\\[dtc]frac(?![a-zA-Z])", r"\\frac"),
        (r"\{,\}|,\\!\s*|\\,(?=\d{3}(?!\d))", ","),
        (r"(?<=\})\s*\\\s+(?=\\?\{)", r"\\setminus "),
        (r"(?<!\\)\\(?:[,!;:> ]|quad(?![a-zA-Z])|qquad(?![a-zA-Z]))|~", " "),
        (r"\\([%$#&_])", r"\1"),
        (r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![a-zA-Z]))|\\degrees?(?![a-zA-Z])", "°"),
        (r"\\(?:cdot|times|ast)(?![a-zA-Z])", "*"),
        (r"\\[lc]?dots[cbo]?(?![a-zA-Z])", "..."),
        (r"\\div(?![a-zA-Z])(?!\s*$)", "/"),
        (r"\\leq(?:slant)?(?![a-zA-Z])|<=", r"\\le "),
        (r"\\geq(?:slant)?(?![a-zA-Z])|>=", r"\\ge "),
        (r"\\neq(?![a-zA-Z])|!=", r"\\ne "),
        (r"\\lt(?![a-zA-Z])", "<"),
        (r"\\gt(?![a-zA-Z])", ">"),
        (r"\\lbrace(?![a-zA-Z])", r"\\{"),
        (r"\\rbrace(?![a-zA-Z])", r"\\}"),
        (r"\\(?:mathbb|mathbf|Bbb)\s*(?:\{R\}|R(?![A-Za-z]))|\\(?:R|Reals|reals)(?![A-Za-z])", r"\\mathbb{R}"),
        (r"(?<=[,(\[])(\s*)\+\s*(?=\\infty)", r"\1"),
    )
)
_TWICE_ESCAPED = re.compile(r"(?<!\\)\\{2,}+(?=(?:[dt]?frac|sqrt|text|pi|boxed|left|right)(?![a-zA-Z]))")
_TEXT = re.compile(r"(\\(?:text(?:bf|it|rm|tt|normal)?|math(?:rm|bf|it|sf)|mbox|operatorname)\s*\{)|[{}\\]")
_WRAPPERS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("**", "**"), ("`", "`"))
_INLINE = re.compile(r"(?<!\\)\$(?! )([^$]{1,400}?)(?<![ \\])\$")
_LEAD_IN = re.compile(
    r"(?:(?:so |thus,? |hence,? |therefore,? )?(?:the |my )?(?:final |correct )?answer is:?\s+(?=\S))+", re.IGNORECASE
)
_BOX = re.compile(r"(\\(?:boxed|fbox|framebox)\s*\{)|[{}]")
_SPACES = re.compile(r"\s+")
_PLAIN = re.compile(r"(?:[A-Za-z0-9,;:?'\"/&+=-]|[ .](?![ .])|\)|(?<![A-Za-z0-9. ])\()*", re.ASCII)
"""Text that only sentences' ends and lead-ins have to be taken from."""
_ITS_OWN_STOP = re.compile(r"\b[A-Za-z]\.$|(?:\.\d+|[,;]\s?|[-+*/=]\s?)\.\.\.$")
_PASSES = 24
"""Far more than any answer needs: what can be nested at will is peeled in one pass."""


def normalize(answer: str) -> str:
    """The answer in one spelling; "" when nothing is left of it. Case, words and operators stay.

    Applying it twice changes nothing. Linear in the length of the answer.
    """
    if len(answer) <= MAX_CHARS and _PLAIN.fullmatch(answer):
        return _plain(answer.strip())
    text = _SPACES.sub(" ", answer.translate(_SYMBOLS)).strip()
    if len(text) > MAX_CHARS:
        return text
    for _ in range(_PASSES):
        before = text
        text = _one_pass(text)
        if text == before:
            break
    return text


def _plain(text: str) -> str:
    before = None
    while text != before:
        before = text
        text = _without_stop(_LEAD_IN.sub("", text, count=1) if _LEAD_IN.match(text) else text)
    return text


def _one_pass(text: str) -> str:
    if not text.isascii():
        text = _VULGAR.sub(_spell_fraction, text)
        text = _RAISED.sub(lambda m: "^{" + m[0].translate(_SUPERSCRIPTS) + "}", text)
        text = unicodedata.normalize("NFKC", text).translate(_SYMBOLS)
    text = _LEAD_IN.sub("", text, count=1) if _LEAD_IN.match(text) else text
    text = _INLINE.sub(r"\1", _peeled(_unwrap(text), _BOX))
    if "\\begin" not in text:
        text = _TWICE_ESCAPED.sub(r"\\", text)
    for pattern, replacement in _COMMANDS:
        text = pattern.sub(replacement, text)
    text = _peeled(text, _TEXT, " ", plain_only=True)
    text = one_spelling(_SPACES.sub(" ", text).strip())
    return _without_stop(text)


def _spell_fraction(match: re.Match[str]) -> str:
    """½ is 1/2, and 3½ is three and a half, not 31/2."""
    spelled = unicodedata.normalize("NFKC", match[2]).translate(_SYMBOLS)
    return f"{match[1]} {spelled}" if match[1] else f" {spelled} "


def _unwrap(text: str) -> str:
    """Without one layer of wrappers that hold the whole answer."""
    text = text.strip()
    for opening, closing in _WRAPPERS:
        inner = text[len(opening) : -len(closing)]
        wrapped = text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing)
        if wrapped and not re.search(rf"(?<!\\){re.escape(opening)}|{re.escape(closing)}", inner.replace(r"\$", "")):
            return inner.strip()
    return text


def _peeled(text: str, marks: re.Pattern[str], instead: str = "", *, plain_only: bool = False) -> str:
    r"""With `instead` for the commands of the first group of `marks` and for the braces that close them, all of them in
    one pass: "\boxed{5} cm" is 5 cm. `marks` also matches every other brace, and with `plain_only` whatever a command
    to be peeled must not hold. Linear.
    """
    pieces: list[str] = []
    opened: list[tuple[int, bool]] = []
    rough = -1
    position = 0
    for mark in marks.finditer(text):
        pieces += text[position : mark.start()], mark[0]
        position = mark.end()
        if mark[0].endswith("{"):
            opened.append((len(pieces) - 1, mark[1] is not None))
            continue
        start, peels = opened.pop() if mark[0] == "}" and opened else (0, False)
        if peels and (rough < start or not plain_only):
            pieces[start] = pieces[-1] = instead
        else:
            rough = len(pieces) - 1
    return "".join([*pieces, text[position:]])


def _without_stop(text: str) -> str:
    """What ends a sentence or a line is no part of the answer: a full stop, a comma, a semicolon. The points of "U.S.",
    "a.m.", "3.14..." and "1, 2, ..." are."""
    if text.endswith((",", ";")):
        return text[:-1].rstrip(" ,;")
    if text.endswith(".") and not _ITS_OWN_STOP.search(text):
        return text[:-1].rstrip(" .")
    return text
