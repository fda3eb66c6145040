"""One row of somebody's data set -> a question and its accepted answers, or why not."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from demur.core.equivalence import after_hashes

QUESTION_KEYS = ("question", "problem", "prompt", "query", "input")
ANSWER_KEYS = ("answer", "ground_truth", "target", "final_answer", "gold", "label", "solution")
LONGEST_ANSWER = 120
"""Characters. Beyond it no grader compares answers in any reliable way."""

_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])|\s+(?=Let's think|Please |Remember to )")
_INSTRUCTION = re.compile(
    r"last line of (?:your|the) (?:response|answer|output)|\\boxed\s*\{\s*\}|within \\boxed"
    # a request to reason step by step, not a problem in which something is solved or happens that way
    r"|\b(?:think|reason|solve|work|answer|proceed)\b[^.?!\n\d$\\=]*\bstep[- ]by[- ]step\b(?!\s*:\s*\S)(?![^.!\n]*\?)"
    r"|put your (?:final )?answer|answer on its own line|in the form(?:at)? of? ?[\"“]?answer:",
    re.IGNORECASE,
)
"""What data sets wrap a problem in: words about how to answer, never about the problem."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question without instructions, and the answers that count as right."""

    text: str
    answers: tuple[str, ...]

    @property
    def ground_truth(self) -> str:
        """The answers in one string, one a line: what the parquet column holds."""
        return "\n".join(self.answers)


def extract(row: Mapping[str, Any]) -> Question | str:
    """The question in a row of any shape we know, or the reason it is left out: "no question", "no answer",
    "unverifiable answer"."""
    text = strip_instructions(_question(row))
    if not text:
        return "no question"
    answers = tuple(dict.fromkeys(a for a in (clean_answer(raw) for raw in _answers(row)) if a))
    if not answers:
        return "no answer"
    usable = tuple(a for a in answers if verifiable(a))
    return Question(text, usable) if usable else "unverifiable answer"


def raw_text(row: Mapping[str, Any]) -> tuple[str, str]:
    """Question and answers as they stand in the row: equal for rows that are copies."""
    return _question(row), str(_answers(row))


def strip_instructions(text: str) -> str:
    """Drop paragraphs and sentences at either end that say how to answer, and keep the problem."""
    paragraphs = [p for p in re.split(r"\n\s*\n", text.strip()) if p.strip()]
    while len(paragraphs) > 1 and _INSTRUCTION.search(paragraphs[0]):
        paragraphs.pop(0)
    while len(paragraphs) > 1 and _INSTRUCTION.search(paragraphs[-1]):
        kept = _without_last_instructions(paragraphs.pop())
        if kept:
            paragraphs.append(kept)
            break
    if paragraphs:
        paragraphs[-1] = _without_last_instructions(paragraphs[-1])
    return "\n\n".join(paragraphs).strip()


def clean_answer(raw: Any) -> str:
    """The bare answer: what stands after GSM8K's ####, or in the last \\boxed{}, or as it is."""
    text = str(raw).strip()
    marked = after_hashes(text)
    text = text if marked is None else marked
    return last_boxed(text) or text


def last_boxed(text: str) -> str | None:
    """The content of the last \\boxed{...}, braces balanced; None where there is none."""
    start = text.rfind("\\boxed{")
    if start < 0:
        return None
    depth = 0
    for end in range(start + 6, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[start + 7 : end].strip()
    return None


def verifiable(answer: str) -> bool:
    """Whether a grader can tell right from wrong: one line, not an essay, and something in it to compare."""
    return len(answer) <= LONGEST_ANSWER and "\n" not in answer and any(c.isalnum() for c in answer)


def _without_last_instructions(paragraph: str) -> str:
    sentences = _SENTENCE.split(paragraph)
    while sentences and _INSTRUCTION.search(sentences[-1]):
        sentences.pop()
    return " ".join(sentences)


def _question(row: Mapping[str, Any]) -> str:
    extra: Mapping[str, Any] = row.get("extra_info") or {}
    found: Any = extra.get("raw_problem") or next((row[key] for key in QUESTION_KEYS if row.get(key)), "")
    if isinstance(found, str):
        return found
    turns: list[Any] = [turn for turn in found if turn.get("role") == "user"]  # a chat
    return turns[-1]["content"] if turns else ""


def _answers(row: Mapping[str, Any]) -> list[Any]:
    nested: Mapping[str, Any] = row.get("reward_model") or row.get("extra_info") or {}
    found: Any = nested.get("ground_truth") if "ground_truth" in nested else _first(row, ANSWER_KEYS)
    if isinstance(found, Mapping):
        found = _first(cast("Mapping[str, Any]", found), ANSWER_KEYS)
    if found is None:
        return []
    return list(cast("Iterable[Any]", found)) if isinstance(found, list | tuple) else [found]


def _first(row: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((row[key] for key in keys if row.get(key) not in (None, "")), None)
