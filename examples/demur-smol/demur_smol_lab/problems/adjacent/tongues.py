"""Plain sums in other languages."""

import random
from collections.abc import Mapping

from demur_smol_lab.problems.adjacent.family import (
    DOUBTED,
    HELD_OUT,
    TAUGHT,
    VALIDATED,
    Drawn,
    Family,
    Kind,
    digits,
    family,
    worked,
)
from demur_smol_lab.problems.problem import Operation, Step


def _sum(rng: random.Random, size: int, operation: Operation) -> Drawn:
    a, b = digits(rng, size), rng.randint(2, 9) if operation == "*" else digits(rng, size)
    a, b = (max(a, b) + 1, min(a, b)) if operation == "-" else (a, b)
    return worked([Step(a, operation, b)], a=a, b=b)


_ASKED: Mapping[str, tuple[Kind, Operation, tuple[str, ...]]] = {
    "german_sum": (
        TAUGHT,
        "+",
        (
            "Was ist {a} + {b}?",
            "Wie viel ist {a} plus {b}?",
            "Berechne {a} + {b}.",
            "Addiere {a} und {b}.",
            "Was ergibt {a} und {b}?",
            "Rechne {a} plus {b} aus.",
        ),
    ),
    "french_sum": (
        TAUGHT,
        "+",
        (
            "Combien font {a} + {b} ?",
            "Calcule {a} plus {b}.",
            "Quelle est la somme de {a} et {b} ?",
            "{a} plus {b} font combien ?",
            "Additionne {a} et {b}.",
        ),
    ),
    "spanish_sum": (DOUBTED, "+", ("¿Cuánto es {a} + {b}?", "Suma {a} y {b}.", "¿Cuál es la suma de {a} y {b}?")),
    "italian_sum": (HELD_OUT, "+", ("Quanto fa {a} + {b}?", "Somma {a} e {b}.", "Quanto fanno {a} più {b}?")),
    "dutch_sum": (VALIDATED, "+", ("Hoeveel is {a} + {b}?", "Tel {a} en {b} op.")),
    "portuguese_sum": (HELD_OUT, "+", ("Quanto é {a} + {b}?", "Some {a} e {b}.")),
    "german_difference": (DOUBTED, "-", ("Was ist {a} - {b}?", "Wie viel ist {a} minus {b}?", "Ziehe {b} von {a} ab.")),
    "french_difference": (HELD_OUT, "-", ("Combien font {a} - {b} ?", "Calcule {a} moins {b}.")),
    "german_product": (
        TAUGHT,
        "*",
        (
            "Was ist {a} * {b}?",
            "Wie viel ist {a} mal {b}?",
            "Multipliziere {a} mit {b}.",
            "{a} mal {b} ist wie viel?",
            "Rechne {a} mal {b}.",
        ),
    ),
    "spanish_product": (HELD_OUT, "*", ("¿Cuánto es {a} * {b}?", "Multiplica {a} por {b}.")),
    "polish_sum": (DOUBTED, "+", ("Ile to jest {a} + {b}?", "Dodaj {a} i {b}.")),
    "swedish_sum": (HELD_OUT, "+", ("Vad är {a} + {b}?", "Hur mycket är {a} plus {b}?")),
}

TONGUES: Mapping[str, Family] = {
    name: family(kind, lambda rng, size, operation=operation: _sum(rng, size, operation), wholes=wordings)
    for name, (kind, operation, wordings) in _ASKED.items()
}
