"""Which answers are to be graded: two random samples of what was answered, each with known probabilities.

`audit` is a plain random sample of all answers, so an error rate on it is the error rate of the traffic. `learn`
prefers answers whose confidence is near a half, where a verdict teaches most, and remembers how likely each was to be
drawn.

Reference: Ohlsson, "Sequential Poisson sampling", Journal of Official Statistics 14 (1998): items taken in the order of
U / w, U uniform, are a sample in which each has a chance proportional to w, wherever one stops.
"""

from dataclasses import dataclass
from random import Random

from demur.feedback.options import QueueName

LEAST = 0.1
"""The weight of an answer that is quite sure, beside 1 at a confidence of a half: no answer is never drawn."""


@dataclass(frozen=True, slots=True)
class Draw:
    """The sample that an answer is in, if any; the chance it had of being drawn; its place in that queue."""

    queue: QueueName | None
    probability: float
    rank: float


def uncertainty(confidence: float | None) -> float:
    """The weight of an answer for learning, in [LEAST, 1]: 4 p (1 - p), and 1 where no confidence could be read."""
    return 1.0 if confidence is None else max(LEAST, 4 * confidence * (1 - confidence))


def draw(confidence: float | None, audit_share: float, learn_share: float, rng: Random) -> Draw:
    """Draw for one answer, whatever was decided about it. The shares are probabilities in [0, 1].

    Ranks of audits are uniform, so that the queue has no order; those of `learn` put the least sure first by chance.
    """
    if rng.random() < audit_share:
        return Draw("audit", audit_share, rng.random())
    weight = uncertainty(confidence)
    rank = rng.random() / weight
    if rank < learn_share:
        return Draw("learn", (1 - audit_share) * min(1.0, weight * learn_share), rank)
    return Draw(None, 0.0, 0.0)
