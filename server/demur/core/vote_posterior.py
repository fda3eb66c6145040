"""The probability that the leader of an unfinished vote is not its winner when all samples are in, for early stopping.

Model: the samples of one prompt are exchangeable. For each rival, the votes for the leader and for it are draws from
a Polya urn that started with one ball each (a uniform prior on their shares), so those to come follow a beta-binomial
distribution given those seen; answers not seen yet are one more rival, with no vote so far. All samples to come are
taken to go to one of the two, and a draw counts as lost. `flip` adds up the rivals' chances.

Looking at a vote after every sample finds a lucky moment sooner or later, so `flip` is not compared with the error
budget itself but with `stopping_level`: the level at which a vote that ends in a dead heat between two answers, where
most goes wrong, would be stopped in favour of the wrong one with less than the budget's probability, over every order
in which its samples may arrive.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import ceil, exp, lgamma

import numpy as np
from numpy.typing import NDArray

MARGIN = 0.8
"""Share of the error budget that the model may use up. The rest is for what it does not know."""

NEGLIGIBLE = 1e-9
"""Relative to the sum so far; the terms fall geometrically."""


def overtakes(leader: float, rival: float, remaining: int) -> float:
    """The probability that a rival ends with at least the leader's votes.

    `leader` and `rival` are votes so far, in units of a full vote and not necessarily whole; `remaining` is how many
    samples are to come, each worth one unit.
    """
    needed = max(ceil((leader - rival + remaining) / 2 - 1e-9), 0)
    if needed > remaining:
        return 0.0
    a, b = rival + 1, leader + 1
    log_chance = lgamma(remaining + 1) - lgamma(needed + 1) - lgamma(remaining - needed + 1)
    log_chance += lgamma(a + needed) + lgamma(b + remaining - needed) - lgamma(a + b + remaining)
    chance = exp(log_chance + lgamma(a + b) - lgamma(a) - lgamma(b))
    total = chance
    for x in range(needed, remaining):
        chance *= (remaining - x) * (a + x) / ((x + 1) * (b + remaining - x - 1))
        total += chance
        if chance < NEGLIGIBLE * total:
            break
    return total


def flip(leader: float, rivals: Iterable[float], remaining: int, *, limit: float = 1.0) -> float:
    """The probability that another answer, seen or not, ends with at least the leader's votes (a union bound).

    Stops adding up once `limit` is passed.
    """
    total = 0.0
    for votes in (*sorted((votes for votes in rivals if votes > 0), reverse=True), 0.0):
        total += overtakes(leader, votes, remaining)
        if total > limit:
            break
    return total


@lru_cache(maxsize=128)
def stopping_level(k: int, error_budget: float) -> float:
    """The upper limit for `flip` at which stopping a vote of k samples keeps the error budget, a probability in (0, 1).

    It is the smallest value that `flip` takes in a dead heat of k samples at which wrong stops there would exceed
    MARGIN * error_budget, so that a vote of fractions is held to no more than one of ones.

    Exact, by dynamic programming over all orders of arrival; about 20 ms at k = 64, then remembered.
    """
    flips = _flips(k)
    levels: NDArray[np.float64] = np.append(np.unique(flips[np.isfinite(flips)]), 1.0)
    low, high = 0, len(levels) - 1
    while low < high:
        middle = (low + high) // 2
        if _wrong_stops(k, flips, float(levels[middle])) > MARGIN * error_budget:
            high = middle
        else:
            low = middle + 1
    return float(levels[low])


def _flips(k: int) -> NDArray[np.float64]:
    """[n, votes of the trailing answer] -> `flip` after n of k samples split between two answers; inf in a draw."""
    flips = np.full((k + 1, k + 1), np.inf)
    for n in range(1, k):
        for trailing in range((n + 1) // 2):
            flips[n, trailing] = flip(n - trailing, [trailing], k - n)
    return flips


def _wrong_stops(k: int, flips: NDArray[np.float64], level: float) -> float:
    """The probability that a vote of k // 2 against the rest, stopped up to `level`, stops while the k // 2 lead.

    `paths[y]` is the probability of not having stopped and having y of the loser's samples among the n seen.
    """
    losers, winners = k // 2, k - k // 2
    paths = np.zeros(k + 1)
    paths[0] = 1.0
    wrong = 0.0
    seen = np.arange(k + 1)
    for n in range(1, k):
        left = k - n + 1
        from_winner = paths * np.clip(winners - (n - 1 - seen), 0, None) / left
        from_loser = np.roll(paths * np.clip(losers - seen, 0, None) / left, 1)
        paths = from_winner + from_loser
        stops = flips[n, np.clip(np.minimum(seen, n - seen), 0, k)] <= level
        wrong += float(paths[stops & (2 * seen > n)].sum())
        paths[stops] = 0.0
    return wrong


def certain(weights: Sequence[float], remaining: int, level: float) -> bool:
    """Whether the first of the weights, the leader's, is overtaken with a probability below `level`."""
    return flip(weights[0], weights[1:], remaining, limit=level) < level
