r"""Which formulas may be shown to a computer algebra system at all.

Algebra systems evaluate what they read: a power tower fills the memory, a factorial the hour, and a plain word is
taken for a product of its letters. What passes here is short, balanced, made of known commands, and free of large
exponents; what still turns out to be costly is stopped by the clock.
"""

import re

from demur.core.equivalence.text import has_words, word_set

MAX_CHARS = 400
MAX_DEPTH = 12
MAX_OPERATIONS = 80

_COMMANDS = word_set(
    "frac sqrt pi sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln exp infty pm mp le ge ne in notin "
    "cup cap setminus emptyset varnothing mathbb alpha beta gamma delta epsilon theta lambda mu rho sigma phi varphi "
    "omega tau binom dbinom lfloor rfloor lceil rceil lvert rvert vert begin end circ overline bar hat vec langle "
    "rangle equiv mod bmod pmod det to ldots cdots sim approx implies iff land lor neg"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{([a-z]+)\}")
_ENVIRONMENTS = frozenset({"pmatrix", "bmatrix", "vmatrix", "matrix"})
_UNFIT = re.compile(
    r"\d{16}|\^\s*\{?\s*[-+(]*\s*\d{4}|\d{4,}\s*\)?\s*!|!\s*[)\]}]*\s*!|\\d?binom\s*\{?\d{4}"  # large
    r"|\d\s*_\s*\{?\s*\d|:|\.\.|(?<![_\d])\d+\s+\.?\d|(?<![\d.])0\d|\d[eE][-+]?\d"
    # 11_2, 12:30, 1, 2, ..., 1 4, 2024-03-05, 1e3: algebra misreads them
)
_EXPONENT = re.compile(r"\^\s*(\{|\()?")
_OPERATION = re.compile(r"[-+*/^!]|\\[a-z]+")


def is_tame(latex: str) -> bool:
    """Whether normalized text is a formula that may be evaluated. Linear in its length."""
    if not latex or len(latex) > MAX_CHARS or _UNFIT.search(latex) or has_words(_ENVIRONMENT.sub(" ", latex)):
        return False
    if not set(_COMMAND.findall(latex)) <= _COMMANDS or not set(_ENVIRONMENT.findall(latex)) <= _ENVIRONMENTS:
        return False
    return len(_OPERATION.findall(latex)) <= MAX_OPERATIONS and _is_balanced(latex) and not _has_number_tower(latex)


def _is_balanced(latex: str) -> bool:
    depth = deepest = 0
    for character in latex:
        depth += (character == "{") - (character == "}")
        deepest = max(deepest, depth)
        if depth < 0:
            return False
    return depth == 0 and deepest <= MAX_DEPTH


def _has_number_tower(latex: str) -> bool:
    """9^{9^{9}} and its like: an exponent that is itself a power of numbers."""
    return any("^" in exponent and not re.search("[A-Za-z]", exponent) for exponent in _exponents(latex))


def _exponents(latex: str) -> list[str]:
    """What stands after each ^, up to the end of its group; the rest of the text where there is no group."""
    found: list[str] = []
    for match in _EXPONENT.finditer(latex):
        opening = match[1]
        if opening is None:
            found.append(re.split(r"[-+*/,=]", latex[match.end() :], maxsplit=1)[0])
            continue
        found.append(_group(latex, match.end(), opening))
    return found


def _group(latex: str, start: int, opening: str) -> str:
    closing, depth = {"{": "}", "(": ")"}[opening], 1
    for end in range(start, len(latex)):
        depth += (latex[end] == opening) - (latex[end] == closing)
        if depth == 0:
            return latex[start:end]
    return latex[start:]
