"""One problem: a question in one of many wordings, its answer, and the calculations that lead there."""

from dataclasses import dataclass
from typing import Literal

Operation = Literal["+", "-", "*", "/", "mod"]


@dataclass(frozen=True, slots=True)
class Step:
    """One whole-number calculation. `/` divides without remainder."""

    left: int
    operation: Operation
    right: int

    @property
    def result(self) -> int:
        return calculate(self.left, self.operation, self.right)

    @property
    def expression(self) -> str:
        return f"{self.left} {self.operation} {self.right}"

    def __str__(self) -> str:
        return f"{self.expression} = {self.result}"


@dataclass(frozen=True, slots=True)
class Problem:
    """A question and what is true of it.

    `size` grades a family from easy to hard. `facts` are the operands, or the words of a question of knowledge:
    what `splits` hashes. `answer` is None when nobody could know it. `steps` lead to the answer in order and are
    empty where there is nothing to calculate. `in_words` asks for the working to be written out. `asked` are the
    values of a question's places by name: the same problem can be asked in other words. `reply` is what to say where
    there is no answer.
    """

    family: str
    size: int
    facts: tuple[str, ...]
    question: str
    answer: str | None
    steps: tuple[Step, ...] = ()
    in_words: bool = False
    asked: tuple[tuple[str, str], ...] = ()
    reply: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """What the same problem in other words has in common with it."""
        return (self.family, str(self.size), self.answer or "", *(self.facts if self.asked else (self.question,)))

    @property
    def cell(self) -> str:
        """Family and size: all that a lookup table of difficulty could know."""
        return f"{self.family}/{self.size}"


def calculate(left: int, operation: Operation, right: int) -> int:
    """The whole-number result. Raises ZeroDivisionError for `/` and `mod` by 0."""
    match operation:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left // right
        case "mod":
            return left % right
