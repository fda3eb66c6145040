"""Contamination check: training questions that share n-grams with evaluation questions."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence


class Overlap:
    """Finds questions that share `n` words in a row with an evaluation question, or all words of a shorter one.

    Runs of words that stand in several evaluation questions are phrases of the trade and give nothing away ("where m
    and n are relatively prime positive integers").
    """

    def __init__(self, n: int, evaluation: Sequence[str] = ()) -> None:
        self._n = n
        texts = {tuple(words(text)) for text in evaluation} - {()}
        count = Counter(gram for tokens in texts for gram in set(self._ngrams(tokens)))
        self._grams = {gram for gram, found in count.items() if found == 1}
        self._whole = {tokens for tokens in texts if len(tokens) < n}

    def with_evaluation(self, text: str) -> bool:
        """Whether `text` gives an evaluation question away."""
        tokens = tuple(words(text))
        return tokens in self._whole or any(gram in self._grams for gram in self._ngrams(tokens))

    def _ngrams(self, tokens: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        return (tokens[i : i + self._n] for i in range(len(tokens) - self._n + 1))


def words(text: str) -> list[str]:
    """Lower-case words, numbers and LaTeX commands: what two copies of a problem agree in."""
    return re.findall(r"[a-z]+|\d+(?:\.\d+)?", text.lower())
