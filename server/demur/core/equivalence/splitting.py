"""Cutting a text at separators that stand outside every bracket."""

import re

_OPENING, _CLOSING = "([{", ")]}"


def split(text: str, separator: re.Pattern[str]) -> list[str]:
    """The pieces between separators that stand outside every bracket. Linear in the text's length."""
    pieces: list[str] = []
    start = depth = counted = 0
    for match in separator.finditer(text):
        depth += _opened(text[counted : match.start()])
        counted = match.start()
        if depth == 0 and match.end() > match.start():
            pieces.append(text[start : match.start()])
            start = counted = match.end()
    return [*pieces, text[start:]]


def _opened(text: str) -> int:
    return sum(map(text.count, _OPENING)) - sum(map(text.count, _CLOSING))


def brackets_around(text: str) -> tuple[str, str]:
    r"""The pair of brackets around a whole text and what is inside; ("", text) without one. \{ \} are a set's."""
    opening = text[:2] if text.startswith("\\{") else text[:1]
    closing = text[-2:] if text.endswith("\\}") else text[-1:]
    pair = opening[-1:] + closing[-1:]
    if pair not in ("()", "[]", "(]", "[)", "{}") or len(opening) != len(closing):
        return "", text
    inside = text[len(opening) : len(text) - len(closing)]
    return (pair, inside.strip()) if _balanced(inside) else ("", text)


def _balanced(inside: str) -> bool:
    """Whether no bracket in it closes one that was opened before it."""
    depth = 0
    for character in inside:
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth < 0:
            return False
    return depth == 0
