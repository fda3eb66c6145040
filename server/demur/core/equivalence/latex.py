r"""One spelling for what LaTeX and keyboards write in several: fractions, roots, functions, repeating decimals."""

import re
from fractions import Fraction

_OVER = re.compile(r"\\(over|choose)(?![A-Za-z])\s*")
_FIRST = re.compile(r"\\(frac|binom)\s*(\d|(?<=\s)[A-Za-z](?![A-Za-z]{2})|\\[A-Za-z]+(?![A-Za-z{\[]))")
_SECOND = re.compile(
    r"(\\(?:frac|binom)\s*\{[^{}]*\})\s*(\d|[A-Za-z](?![A-Za-z])|\\(?!frac|sqrt)[A-Za-z]+(?![A-Za-z{\[]))"
)
_ROOT = re.compile(
    r"\\sqrt\s*(\[[^\[\]{}]*\])?\s*(\d+(?:\.\d+)?|[A-Za-z](?![A-Za-z])|\\(?!frac|sqrt)[A-Za-z]+(?![A-Za-z{\[]))"
)
_ROOT_OF = re.compile(r"\\?(?<![A-Za-z])sqrt\s*(\[[^\[\]{}]*\])?\s*\(")
_FUNCTION = re.compile(
    r"(?<![A-Za-z\\])(exp|sin|cos|tan|sec|csc|cot|ln|log|arcsin|arccos|arctan|sinh|cosh|tanh)(?=\s*\()"
)
_TIMES_TEN = re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*(?:\^|\*\*))")
_UPRIGHT = re.compile(r"\\exp(?![A-Za-z])\s*\(")

_BARRED = re.compile(
    r"(?<![\d.,])(\d{0,30})\.(\d{0,30})"
    r"(?:\\(?:overline|bar)\s*(?:\{(\d{1,30})\}|(\d))|\((\d{1,30})\)(?![\d(^!]|\\frac)"
    r"|\\dot\s*(?:\{(\d)\}|(\d))(?:(\d{0,28})\\dot\s*(?:\{(\d)\}|(\d)))?)"
)
_DOTTED = re.compile(r"(?<![\d.,])(\d{1,30})\.(\d{2,60})\.{3}(?!\s*[\d.])")

_PAIRS = {"{": "}", "(": ")", "[": "]"}
_MOST = 8
"""Of infix fractions or roots that are rewritten in one answer; with more it stays as it is."""


def one_spelling(text: str) -> str:
    r"""{a \over b}, \frac12 and \frac a b become \frac{a}{b}; sqrt(x) and \sqrt x become \sqrt{x}; a repeating decimal
    becomes its fraction. Applied until nothing changes, it changes nothing more."""
    if "." in text and ("\\" in text or "(" in text or ".." in text):
        text = _BARRED.sub(_barred, _DOTTED.sub(_dotted, text))
    if "x" in text or "X" in text:
        text = _TIMES_TEN.sub("*", text)
    if "(" in text:
        text = _UPRIGHT.sub(r"\\exp (", _FUNCTION.sub(r"\\\1", text))
        text = _groups(text, _ROOT_OF)
    if "\\over" in text or "\\choose" in text:
        text = _infix(text)
    if "\\frac" in text or "\\binom" in text:
        text = _SECOND.sub(r"\1{\2}", _FIRST.sub(r"\\\1{\2}", text))
    if "\\sqrt" in text:
        text = _ROOT.sub(lambda match: f"\\sqrt{match[1] or ''}{{{match[2]}}}", text)
    return text


def _barred(match: re.Match[str]) -> str:
    r"""0.1\overline{6}, 0.1(6), 0.1\dot6 and 0.\dot{1}4285\dot{7}."""
    whole, before = match[1], match[2]
    block = match[3] or match[4] or match[5]
    if block is None:
        first, last = match[6] or match[7], match[9] or match[10]
        block = first + (match[8] + last if last else "")
    return _fraction(whole, before, block)


def _dotted(match: re.Match[str]) -> str:
    """0.333... and 0.1212...; what shows no repetition, as 3.14..., stays."""
    whole, digits = match[1], match[2]
    for length in range(1, len(digits) // 2 + 1):
        block = digits[-length:]
        times = 0
        while digits.endswith(block, 0, len(digits) - times * length):
            times += 1
        before = digits[: len(digits) - times * length]
        enough = 3 if length == 1 or (length > 3 and before) else 2
        if times >= enough:
            return _fraction(whole, before, block)
    return match[0]


def _fraction(whole: str, before: str, block: str) -> str:
    shift = 10 ** len(before)
    value = Fraction(int((whole or "0") + before), shift) + Fraction(int(block), shift * (10 ** len(block) - 1))
    return f"\\frac{{{value.numerator}}}{{{value.denominator}}}" if value.denominator > 1 else str(value.numerator)


def _infix(text: str) -> str:
    r"""{a \over b} as \frac{a}{b}, with the group that TeX would take."""
    while matches := [*_OVER.finditer(text)]:
        if len(matches) > _MOST:
            break
        match = matches[-1]
        start, end = _group_around(text, match.start(), match.end())
        top, bottom = text[start : match.start()].strip(), text[match.end() : end].strip()
        if not top or not bottom or "=" in top + bottom:
            break
        command = "binom" if match[1] == "choose" else "frac"
        braced = text[start - 1 : start] == "{" and text[start - 2 : start - 1] != "\\" and end < len(text)
        text = f"{text[: start - braced]}\\{command}{{{top}}}{{{bottom}}}{text[end + braced :]}"
    return text


def _group_around(text: str, left: int, right: int) -> tuple[int, int]:
    """Where the innermost bracketed group that holds text[left:right] starts and ends."""
    depth = 0
    while left > 0 and depth >= 0:
        left -= 1
        depth += (text[left] in "})]") - (text[left] in "{([")
    start = left + 1 if depth < 0 else 0
    depth = 0
    while right < len(text) and depth >= 0:
        depth += (text[right] in "{([") - (text[right] in "})]")
        right += 1
    return start, right - 1 if depth < 0 else len(text)


def _groups(text: str, opening: re.Pattern[str]) -> str:
    r"""sqrt(...) as \sqrt{...}."""
    matches = [*opening.finditer(text)]
    for match in reversed(matches if len(matches) <= _MOST else []):
        _, end = _group_around(text, match.end(), match.end())
        if end == len(text):
            continue
        text = f"{text[: match.start()]}\\sqrt{match[1] or ''}{{{text[match.end() : end]}}}{text[end + 1 :]}"
    return text
