"""Tags as regular expressions: of claims, of answers, of thought and of chat templates; and beginnings of them."""

import re
from collections.abc import Iterable

from demur.core.parsing.templates import ANGLED, ASIDES, BRACKETED, PIPED, THOUGHTS
from demur.core.parsing.tries import any_of

SPACE = r"\s{0,8}"
_VALUE = r"(?:\"[^\"<>\n]{0,64}\"|'[^'<>\n]{0,64}'|[^\s<>\"']{0,64})"
PART_OF_VALUE = r"(?:\"[^\"<>\n]{0,64}\"?|'[^'<>\n]{0,64}'?|[^\s<>\"']{0,64})"

_STRUCK_WORDS = r"[^<>\[\]\n]"
MAY_BE_STRUCK = re.compile(rf"<s>{_STRUCK_WORDS}{{0,60}}(?:<(?:/s?)?)?", re.IGNORECASE)
"""The beginning of one."""


def claim_tags() -> dict[str, str]:
    """The tags of a claim: `<Confidence value=0.9 text="...">` as far as its explanation, and `</Confidence>`."""
    # `value` is usually unquoted, and the explanation may hold any character: its quote ends it, a tag
    # or a `Solution:` line if that never comes.
    value = rf"\s{{1,8}}value{SPACE}={SPACE}(?P<value>{_VALUE})"
    opening = rf"Confidence(?:{value})?(?:\s{{0,8}}/?>|\s{{0,8}}text{SPACE}={SPACE}(?P<quote>[\"']))"
    return {"CLAIM_OPEN": opening, "CLAIM_CLOSE": rf"/Confidence{SPACE}>"}


def explanation_end(lenient: bool) -> str:
    """What ends the opening tag of a claim behind its explanation; when `lenient`, with a value that comes late."""
    late = rf"(?:value{SPACE}={SPACE}(?P<late>{_VALUE}){SPACE})?/?" if lenient else ""
    return rf"(?P<EXPLANATION_END>{SPACE}{late}>)"


def thoughts() -> dict[str, str]:
    """`<think>` and its kin, `<mm:think>`, `[THINK]`, `◁think▷`."""
    spaced = r"(?:[a-z][\w-]{0,12}:)?"
    names = rf"(?:{spaced}{any_of(THOUGHTS)}{SPACE}>|think[\]▷])"
    asides = rf"{any_of(ASIDES)}{SPACE}>"
    return {
        "THINK_OPEN": rf"(?:{names}|\|channel>{SPACE}thought|{asides})",
        "THINK_CLOSE": rf"(?:/{names}|channel\|>|/{asides})",
    }


def specials() -> dict[str, str]:
    """Special tokens of chat templates that an engine left in: `<|im_end|>`, `<eos>`, `[INST]`."""
    piped = rf"[|｜]{any_of(_spelled(PIPED))}[|｜]>"
    return {"SPECIAL": rf"(?:{piped}|{any_of(ANGLED)}>|{any_of(BRACKETED)}\])"}


def struck() -> dict[str, str]:
    """`<s>Paris</s>` amid a line strikes words out; at the start of one, `<s>` is the token that opens a sequence."""
    return {"STRUCK": rf"(?<![\n>]<)s>{_STRUCK_WORDS}{{1,60}}</s>"}


def _spelled(names: Iterable[str]) -> set[str]:
    return {spelled for name in names for spelled in (name, name.replace("_", "▁"))}


def template_beginnings() -> list[str]:
    """The beginnings of thoughts' tags and of special tokens."""
    names = [f"{slash}{name}" for name in (*THOUGHTS, *ASIDES) for slash in ("", "/")]
    tags = [beginning("<", name) for name in (*names, *ANGLED)]
    square = [rf"\[{optional(*name)}" for name in BRACKETED]
    other = [rf"[\[◁]{optional(*slash, *'think')}" for slash in ("", "/")]
    return [
        *tags,
        *square,
        *other,
        rf"</?[a-z][\w-]{{0,12}}(?::(?:{'|'.join(optional(*name, SPACE) for name in THOUGHTS)}))?",
        r"<[|｜][\w▁/]{0,24}[|｜]?",
        "<" + optional(*"channel", r"\|"),
        rf"<\|channel>{SPACE}{optional(*'thought')}",
    ]


def element(kind: str, name: str) -> dict[str, str]:
    """The opening and closing tag of an element, as the tokens KIND_OPEN and KIND_CLOSE."""
    return {f"{kind}_OPEN": rf"{name}{SPACE}>", f"{kind}_CLOSE": rf"/{name}{SPACE}>"}


def beginning(bracket: str, name: str) -> str:
    """Any beginning of the tag that opens with `bracket` and `name`."""
    return bracket[0] + optional(*bracket[1:], *name, SPACE)


def claim_beginning() -> str:
    """Any beginning of a claim's opening tag."""
    text = (*"text", SPACE, "=", SPACE)
    valued = (r"\s{1,8}", *"value", SPACE, "=", SPACE, PART_OF_VALUE, SPACE)
    after_name = rf"(?:{optional(*valued, *text)}|{optional(SPACE, *text)}|{optional(*valued, '/')}|{SPACE}/?)"
    return "<" + optional(*"Confidence", after_name)


def optional(*atoms: str) -> str:
    """Any beginning of the sequence of atoms: a(?:b(?:c)?)? made optional as a whole."""
    nested = ""
    for atom in reversed(atoms):
        nested = f"(?:{atom}{nested})?"
    return nested
