"""Free text as an answer: the same name however it is written."""

import re
import unicodedata

_APOSTROPHES = re.compile(r"['`´.]")
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WORD = re.compile(r"[A-Za-z]{3,}")
_ONLY_LETTERS = re.compile(r"[^\W\d_](?:[ .'&]*[^\W\d_])+[ .']*")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_FORMULA_MARKS = frozenset("\\^_{}=<>|")


def word_set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_FUNCTIONS = word_set(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log exp max min mod gcd lcm det sqrt sgn deg"
)


def is_text(normalised: str) -> bool:
    """Whether an answer is words and no formula.

    It decides who may see it: algebra reads letters as factors, to which "listen" is "silent".
    """
    if _ONLY_LETTERS.fullmatch(normalised):
        return True
    if any(ord(character) > 127 and character.isalpha() for character in normalised):
        return True
    return has_words(normalised) and not _FORMULA_MARKS.intersection(normalised)


def has_words(normalised: str) -> bool:
    """Whether any word stands in it that is neither a LaTeX command nor a function's name."""
    return any(word.lower() not in _FUNCTIONS for word in _WORD.findall(_COMMAND.sub(" ", normalised)))


def text_key(normalised: str) -> str:
    """Without case, accents, articles, punctuation and layout; the bare text when nothing else is left of it."""
    folded = unicodedata.normalize("NFKD", normalised.casefold().replace("&", " and "))
    plain = "".join(character for character in folded if not unicodedata.combining(character))
    plain = _PUNCTUATION.sub(" ", _APOSTROPHES.sub("", plain))
    key = " ".join(_ARTICLES.sub(" ", plain).split())
    return key or " ".join(plain.split()) or " ".join(folded.split())
