r"""The names that answers give to their values: x = 3 and y = 3 are different answers, y = 2x and f(x) = 2x are not."""

import re

_VARIABLE = re.compile(
    r"(?:^|[,;({]|\\\{|\b(?:or|and)\b)\s*((?:[A-Za-z]|\\[a-z]+)(?:_\{?\w+\}?|'+)?)(?:\s*\([^()=]{1,20}\))?\s*=(?!=)"
)
_FUNCTION = re.compile(r"(?:^|[,;])\s*([A-Za-z]'*)\s*\([^()=]{1,20}\)\s*=(?!=)")
_TURNED = re.compile(r"(?<![<>=!:])=\s*((?:[A-Za-z]|\\[a-z]+)(?:_\{?\w+\}?|'+)?)$")


_SEGMENT = re.compile(r"^\s*(?:m?\s?\\angle\s*)?\|?(?:\\overline\s*)?\{?([A-Z]{2,3})\}?\|?\s*=(?!=)")
_INEQUALITY = re.compile(r"[<>]|\\(?:le|ge|ne)(?![A-Za-z])")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_LETTER = re.compile("[A-Za-z]")


def name_of_inequality(latex: str) -> str:
    """x of -2x < 4; "" where there is no inequality or not just one letter."""
    if _INEQUALITY.search(latex) is None:
        return ""
    letters = set(_LETTER.findall(_COMMAND.sub(" ", latex)))
    return letters.pop() if len(letters) == 1 else ""


def names_differ(one: str, other: str) -> bool:
    """Whether both name what they give, and share no name: variable against variable, function against function, the
    points of a segment or angle against those of another."""
    for named in (_functions, _variables, _segments):
        some, others = named(one), named(other)
        if some and others and not some & others:
            return True
    return False


def _functions(text: str) -> frozenset[str]:
    return frozenset(_FUNCTION.findall(text))


def _variables(text: str) -> frozenset[str]:
    """Of "x = 1 or x = 2" and "5 = x" x; none where a function is defined."""
    if _FUNCTION.search(text) or len(text) > 2_000:
        return frozenset()
    return frozenset(_plain(name) for name in [*_VARIABLE.findall(text), *_TURNED.findall(text)])


def _segments(text: str) -> frozenset[str]:
    match = _SEGMENT.match(text)
    return frozenset({min(match[1], match[1][::-1])}) if match else frozenset()


def _plain(name: str) -> str:
    return re.sub("[{}]", "", name)
