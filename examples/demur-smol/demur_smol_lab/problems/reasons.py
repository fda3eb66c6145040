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
            return (f"parts of {step.left} by {step.right}", f"how often {step.right} goes into {step.left}")
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


def is_true(reason: str, step: Step) -> bool:
    """Whether it is one of the reasons that hold for `step`."""
    natural = step.left >= 0 and step.right >= 0
    return natural and reason in true_reasons(step)


def _sum(a: int, b: int) -> tuple[str, ...]:
    x, y = a % 10, b % 10
    column = f"ones {x} and {y} make more than 9" if x + y > 9 else f"ones {x} and {y} stay below 10"
    return (f"{column} in {a} + {b}", f"adding {a} and {b} column by column")


def _difference(a: int, b: int) -> tuple[str, ...]:
    if b > a:
        return (f"{a} is less than {b}", f"below zero: {a} - {b}")
    x, y = a % 10, b % 10
    column = f"ones {x} are fewer than {y}" if x < y else f"ones {x} are enough for {y}"
    return (f"{column} in {a} - {b}", f"taking {b} from {a} column by column")


def _product(a: int, b: int) -> tuple[str, ...]:
    if max(a, b) < 10:
        return (f"times table of {a} and {b}", f"{a} times {b} by heart")
    if min(a, b) < 10:
        return (f"{min(a, b)} times each digit of {max(a, b)}", f"more than the times table in {a} * {b}")
    return (f"many partial products in {a} * {b}", f"long multiplication {a} * {b}")
