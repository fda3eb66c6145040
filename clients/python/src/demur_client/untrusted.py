"""Model text is untrusted: what of it may reach a terminal or a page.

Escape sequences could repaint a terminal, set its title or answer for the user; bidirectional controls could make a
text read as another one. Both are taken out. Everything else, in any script, stays.
"""

from __future__ import annotations

import re

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI: colours, cursor, clearing
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)"  # OSC and other strings: titles, links, clipboard
    r"|\x1b[ -/]{0,8}[0-~]"
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def clean(text: str) -> str:
    """`text` without terminal control sequences, control characters other than tab and line feed, and bidirectional
    controls."""
    return _CONTROLS.sub("", _SEQUENCES.sub("", text.replace("\r\n", "\n")))


def clean_line(text: str) -> str:
    """The same on one line."""
    return " ".join(clean(text).split())


def escape_json(document: str) -> str:
    """A JSON document that means the same and is safe to print: such characters are written as escapes."""
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", document)
