"""Short true reasons for doubting one calculation, each naming what that very step works with."""

import re

from demur_smol_lab.problems.problem import Step

_CALCULATION = re.compile(r"\s*(-?\d{1,18}) ?(\+|-|\*|/|mod) ?(-?\d{1,18}) ?= ?(-?\d{1,18})\s*", re.ASCII)


def true_reasons(step: Step) -> tuple[str, ...]:
    """Every reason that holds for `step`; never empty for natural operands."""
    match step.operation:
        case "+":
            return _sum(step.left, step.right)
        case "-":
            return _difference(step.left, step.right)
        case "*":
            return _product(step.left, step.right)
        case "/":
            return (f"is {step.left} a multiple of {step.right}", f"how often {step.right} goes into {step.left}")
        case "mod":
            return (
                f"the multiple of {step.right} below {step.left}",
                f"what {step.left} leaves over {step.right}",
            )


def parse_step(text: str) -> tuple[Step, int] | None:
    """A claim that is one calculation, and the result it states; None for anything else."""
    match = _CALCULATION.fullmatch(text)
    if match is None:
        return None
    return Step(int(match[1]), match[2], int(match[3])), int(match[4])  # type: ignore[arg-type]


def names_step(reason: str, step: Step) -> bool:
    """Whether the reason names an operand of the step, or both what it does and a number of it."""
    numbers = set(re.findall(r"\d+", reason))
    return bool(numbers & {str(abs(step.left)), str(abs(step.right))})


def carries(left: int, right: int) -> int:
    """How many columns of left + right carry."""
    count = carry = 0
    while left or right:
        carry = int(left % 10 + right % 10 + carry >= 10)
        count, left, right = count + carry, left // 10, right // 10
    return count


def borrows(left: int, right: int) -> int:
    """How many columns of left - right borrow, for left >= right >= 0."""
    return carries(left - right, right)


def _sum(a: int, b: int) -> tuple[str, ...]:
    count = carries(a, b)
    if count == 0:
        return (f"no carry in {a} + {b}", f"plain sum of {a} and {b}")
    if count == 1:
        return (f"one carry in {a} + {b}", f"a carry when adding {b} to {a}")
    return (f"{count} carries in {a} + {b}", f"several carries adding {b} to {a}")


def _difference(a: int, b: int) -> tuple[str, ...]:
    if b > a:
        return (f"{a} is less than {b}", f"below zero: {a} - {b}")
    count = borrows(a, b)
    if count == 0:
        return (f"no borrow in {a} - {b}", f"plain difference of {a} and {b}")
    return (f"borrow in {a} - {b}", f"taking {b} from {a} borrows")


def _product(a: int, b: int) -> tuple[str, ...]:
    if max(a, b) < 10:
        return (f"times table of {a} and {b}", f"{a} times {b} by heart")
    if min(a, b) < 10:
        return (f"carries in {a} * {b}" if _carrying(a, b) else f"no carry in {a} * {b}", f"each digit of {max(a, b)}")
    return (f"many partial products in {a} * {b}", f"long multiplication {a} * {b}")


def _carrying(a: int, b: int) -> bool:
    large, small = max(a, b), min(a, b)
    return any(int(digit) * small >= 10 for digit in str(large))
