"""Free text as an answer: the same name however it is written."""

import re
import unicodedata

_LEADING_POINT = re.compile(r"(?<![\w.])\.(?=\d)")
_APOSTROPHES = re.compile(r"['`´]|(?<!\d)\.|\.(?!\d)")
_PUNCTUATION = re.compile(
    r"((?<=\d)\.(?=\d)"  # 1.5
    r"|(?<![\w.)\]}])-(?=\d)"  # at most -2, but not COVID-19 or 2024-03-05
    r"|(?<=\w)[+#-]++(?!\w))"  # O+, O-, C++, F#
    r"|[^\w\s]|_"
)
_ARTICLES = re.compile(r"\b(?:(?:an|the)\b(?![+#-])|a(?=\s+\S))")  # the A of "vitamin A" and of "A+" is none
_AND = re.compile(r"&|(?<=\w)\+(?=[^\W\d_])|(?<=\s)\+(?=\s)")
_MINUS = re.compile(r"-(?=[^\W\d_])")
_SHARP_S = re.compile(r"\w*ß\w*")
_WORD = re.compile(r"[A-Za-z]{3,}")
_ONLY_LETTERS = re.compile(r"[^\W\d_](?:[ .'&]*[^\W\d_])+[ .']*")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_FORMULA_MARKS = frozenset("\\^_{}=<>|")


def word_set(listed: str) -> frozenset[str]:
    """The words of a list with spaces between them."""
    return frozenset(listed.split())


_NO_NOUNS = word_set(
    "who whom whose what which where when why how this that these those it he she we they them us me you i yes no and "
    "or but if so is be was"
)
"""Before one of these an article is part of a name, as in "The Who": alone they name nothing."""
_OTHER_WITH_SS = word_set("maß maße maßen buße bußen floße floßen ruße rußen schoß schoße schoßes aß")
"""German words that another word spells with ss; in all others ß and ss are one."""

_FUNCTIONS = word_set(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log exp max min mod gcd lcm det sqrt sgn deg"
)


def is_text(normalized: str) -> bool:
    """Whether an answer is words and no formula.

    It decides who may see it: algebra reads letters as factors, to which "listen" is "silent".
    """
    if _ONLY_LETTERS.fullmatch(normalized):
        return True
    if any(ord(character) > 127 and character.isalpha() for character in normalized):
        return True
    return has_words(normalized) and not _FORMULA_MARKS.intersection(normalized)


def has_words(normalized: str) -> bool:
    """Whether any word stands in it that is neither a LaTeX command nor a function's name."""
    return any(word.lower() not in _FUNCTIONS for word in _WORD.findall(_COMMAND.sub(" ", normalized)))


def text_key(normalized: str) -> str:
    """A key that is equal for equal texts: the words without case, accents, articles, layout, and the punctuation that
    tells no two answers apart; the bare text when nothing else is left of it."""
    lower = _SHARP_S.sub(_sharp_s, normalized.lower()) if "ß" in normalized else normalized
    folded = unicodedata.normalize("NFKD", _AND.sub(" and ", lower.casefold()))
    plain = "".join(character for character in folded if not unicodedata.combining(character))
    plain = _APOSTROPHES.sub("", _LEADING_POINT.sub("0.", plain))
    plain = _PUNCTUATION.sub(lambda mark: mark[1] or " ", plain)
    if _MINUS.match(normalized):
        plain = f"-{plain.lstrip()}"
    key = " ".join(_ARTICLES.sub(" ", plain).split())
    if key in _NO_NOUNS:
        return " ".join([*_ARTICLES.findall(plain), key])
    return key or " ".join(plain.split()) or " ".join(folded.split())


def accents_differ(one: str, other: str) -> bool:
    """Whether two texts of equal key bear different accents on one letter, as "pêche" and "péché" do. A letter without
    any may stand for the one with: "Beyonce"."""
    if one.isascii() or other.isascii():
        return False
    return any(a and b and a != b for a, b in zip(_accents(one), _accents(other), strict=False))


def _accents(text: str) -> list[str]:
    """The accents of each letter."""
    found: list[str] = []
    for character in unicodedata.normalize("NFKD", text.casefold()):
        if unicodedata.combining(character):
            if found:
                found[-1] += character
        elif character.isalpha():
            found.append("")
    return found


def _sharp_s(word: re.Match[str]) -> str:
    return word[0].replace("ß", "sz") if word[0] in _OTHER_WITH_SS else word[0]
