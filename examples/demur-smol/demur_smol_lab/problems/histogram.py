"""How hard a mix is for a model: its measured chance of being right, problem by problem."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
CERTAIN, IMPOSSIBLE = 0.8, 0.1


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Shares of problems by measured chance; `counts` has one number for each tenth, the last one includes 1."""

    counts: tuple[int, ...]
    near_certain: float
    between: float
    near_impossible: float


def difficulty(chances: Sequence[float]) -> Difficulty:
    """The histogram, and the shares at or above 0.8, between, and below 0.1. Raises ValueError without problems."""
    if not chances:
        raise ValueError("no problem was measured")
    counts = [0] * (len(EDGES) - 1)
    for chance in chances:
        counts[min(len(counts) - 1, int(10 * chance + 1e-9))] += 1
    certain = sum(chance >= CERTAIN for chance in chances) / len(chances)
    impossible = sum(chance < IMPOSSIBLE for chance in chances) / len(chances)
    return Difficulty(tuple(counts), certain, 1 - certain - impossible, impossible)


def chance_by(outcomes: Iterable[tuple[str, bool]]) -> dict[str, float]:
    """Share of right outcomes by key (a problem, or a cell), in the order of the keys."""
    seen: dict[str, list[bool]] = defaultdict(list)
    for key, right in outcomes:
        seen[key].append(right)
    return {key: sum(right) / len(right) for key, right in sorted(seen.items())}


def table(found: Difficulty, width: int = 40) -> str:
    """The histogram as text, one tenth a line, and the three shares."""
    most = max(found.counts)
    lines = [
        f"{low:.1f}-{high:.1f} {count:5d} {'#' * round(width * count / most)}"
        for low, high, count in zip(EDGES[:-1], EDGES[1:], found.counts, strict=True)
    ]
    named = {"near-certain": found.near_certain, "between": found.between, "near-impossible": found.near_impossible}
    return "\n".join([*lines, ", ".join(f"{name} {share:.0%}" for name, share in named.items())])
