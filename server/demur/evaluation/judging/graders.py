"""Graders by name: is this output's answer right? A new one is one class and one line in `GRADERS`."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from demur.evaluation.asking.base import Output
from demur.evaluation.datasets import GraderName, Question
from demur.evaluation.errors import EvaluationError
from demur.evaluation.judging import simpleqa
from demur.evaluation.judging.formulas import Formulas
from demur.evaluation.judging.judge import Judge


@dataclass(frozen=True, slots=True)
class Verdict:
    """`correct` is None where nobody could tell; `note` is for the reader of the report."""

    correct: bool | None
    note: str = ""


class Grader(Protocol):
    """Says whether an output answers a question rightly. No answer is never right."""

    async def grade(self, question: Question, output: Output) -> Verdict: ...


@dataclass(frozen=True, slots=True)
class Maths:
    """The equivalence that training rewards and voting use, formulas by value."""

    formulas: Formulas

    async def grade(self, question: Question, output: Output) -> Verdict:
        """Right when the answer means the same as a gold one."""
        if output.answer is None:
            return Verdict(False, "no answer")
        return Verdict(await self.formulas.correct(output.answer, question.gold))


@dataclass(frozen=True, slots=True)
class Aliases:
    """Any accepted answer, by the same equivalence as for maths, which reads words as words; or written like it.

    "The 39 Steps" is a title to whoever asked for one, and a quantity to the equivalence.
    """

    formulas: Formulas

    async def grade(self, question: Question, output: Output) -> Verdict:
        """Right when the answer is one of the accepted ones."""
        if output.answer is None:
            return Verdict(False, "no answer")
        if _title(output.answer) in {_title(gold) for gold in question.gold}:
            return Verdict(True)
        return Verdict(await self.formulas.correct(output.answer, question.gold))


@dataclass(frozen=True, slots=True)
class SimpleQA:
    """A judge. What was not attempted is not right."""

    judge: Judge

    async def grade(self, question: Question, output: Output) -> Verdict:
        """Right when the judge says CORRECT; nobody can tell when it says nothing readable."""
        if output.answer is None:
            return Verdict(False, "no answer")
        grade = await self.judge.verdict(simpleqa.case(question.text, question.gold[0], output.answer))
        if grade is None:
            return Verdict(None, "the judge gave no verdict")
        return Verdict(grade == "CORRECT", grade.lower().replace("_", " "))


def _simpleqa(formulas: Formulas, judge: Judge | None) -> Grader:
    if judge is None:
        raise EvaluationError("the simpleqa grader needs a judge: give --judge-model and --judge-base-url")
    return SimpleQA(judge)


GRADERS: dict[GraderName, Callable[[Formulas, Judge | None], Grader]] = {
    "maths": lambda formulas, judge: Maths(formulas),
    "aliases": lambda formulas, judge: Aliases(formulas),
    "simpleqa": _simpleqa,
}

_ARTICLE = re.compile(r"(?:a|an|the) (?=.)")
_QUOTES = "'\"“”‘’ "


def _title(answer: str) -> str:
    """What is written, but for case, layout, quotation marks around it and an article before it."""
    words = " ".join(answer.casefold().split()).strip(_QUOTES)
    return _ARTICLE.sub("", words, count=1) if _ARTICLE.match(words) else words
