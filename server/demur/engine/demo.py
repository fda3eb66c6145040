"""What the scripted engine says when nobody gives it a script: a few believable questions, and a stand-in for the rest.

It recognises the contract by the instructions before the question, as a trained model does, and prints in its form.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from string import Formatter

from demur.core.contracts import CONTRACTS, Contract, Solution, Step
from demur.engine.base import Message


@dataclass(frozen=True, slots=True)
class Prepared:
    """One question with what the samples say about it: (answer, confidence) pairs, the usual one first."""

    question: str
    steps: tuple[Step, ...]
    answers: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A question taken out of its instructions; `risk_threshold` is what the prompt states, 0 where it states none."""

    question: str
    contract: Contract
    risk_threshold: float = 0.0


PREPARED = (
    Prepared(
        "Pens come in packs of 3 for 2 euros. What do 12 pens cost?",
        (
            Step("12 pens are 12 / 3 = 4 packs.", 0.98, "an exact division"),
            Step("4 packs cost 4 * 2 = 8 euros.", 0.96, "a small product"),
        ),
        (("8 euros", 0.95), ("8 euros", 0.97), ("24 euros", 0.35), ("8 euros", 0.9)),
    ),
    Prepared(
        "What is the capital of Australia?",
        (
            Step("Sydney is the largest city, but it is not the capital.", 0.95, "widely confused"),
            Step("The capital is Canberra.", 0.97, "well known"),
        ),
        (("Canberra", 0.97), ("Canberra", 0.94), ("Sydney", 0.4), ("Canberra", 0.96)),
    ),
    Prepared(
        "How many moons does Saturn have?",
        (
            Step("Saturn has more known moons than any other planet.", 0.85, "the lead has changed before"),
            Step("The number of confirmed moons is 146.", 0.3, "new ones are announced every few years"),
        ),
        (("146", 0.3), ("83", 0.25), ("274", 0.35), ("146", 0.28)),
    ),
    Prepared(
        "Which is larger, 9.11 or 9.9?",
        (
            Step("Both have 9 before the point.", 0.99, "nothing to get wrong"),
            Step("After the point, 0.90 is more than 0.11.", 0.8, "version numbers go the other way round"),
        ),
        (("9.9", 0.78), ("9.9", 0.8), ("9.11", 0.55), ("9.9", 0.7)),
    ),
)


def demo_answer(messages: Sequence[Message]) -> list[str]:
    """The samples for one prompt, in order."""
    asked = unwrap(messages[-1]["content"])
    known = {prepared.question: prepared for prepared in PREPARED}
    prepared = known.get(asked.question.strip()) or _stand_in(asked.question)
    return [_write(prepared, asked, answer, confidence) for answer, confidence in prepared.answers]


def unwrap(content: str) -> Unwrapped:
    """The question after the instructions that `demur.prompts` puts before it; the response contract without any."""
    wordings = [(contract, wording) for contract in CONTRACTS.values() for wording in _wordings(contract)]
    for contract, wording in wordings:
        if match := _instructions(wording).fullmatch(content):
            percent = match.groupdict().get("percent")
            return Unwrapped(match["question"], contract, float(percent) / 100 if percent else 0.0)
    return Unwrapped(content, next(iter(CONTRACTS.values())))


def _wordings(contract: Contract) -> list[str]:
    return [wording for wording in (contract.template, contract.untrained_template) if wording is not None]


@cache
def _instructions(template: str) -> re.Pattern[str]:
    """Matches every prompt that can be made of a template."""
    fields = {"question": "(?P<question>.*)", "percent": r"(?P<percent>[\d.e+-]+)"}
    parts = [
        re.escape(literal) + ("" if field is None else fields.get(field, ".*?"))
        for literal, field, _, _ in Formatter().parse(template)
    ]
    return re.compile("".join(parts), re.DOTALL)


def _stand_in(question: str) -> Prepared:
    """The same question always gets the same made-up number and the same confidence."""
    digest = hashlib.sha256(question.encode()).digest()
    number, confidence = str(int.from_bytes(digest[:2], "big") % 1000), round(0.05 + 0.9 * digest[2] / 255, 2)
    steps = (
        Step("No script covers this question.", 0.99, "a fact about this demo"),
        Step(f"The stand-in for it is {number}.", confidence, "a number made from the question"),
    )
    return Prepared(question, steps, ((number, confidence),))


def _write(prepared: Prepared, asked: Unwrapped, answer: str, confidence: float) -> str:
    solution = Solution(
        reasoning=" ".join(step.text for step in prepared.steps),
        steps=prepared.steps,
        answer=answer,
        confidence=confidence,
        risk_threshold=asked.risk_threshold,
    )
    return asked.contract.render(solution)
