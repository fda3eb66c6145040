"""What came of a promised error rate: answered, wrong and their exact intervals, beside what was asked."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from demur.core.answers import Granularity
from demur.core.threshold import decide_claim
from demur.evaluation.asking.base import Output
from demur.evaluation.grade import Graded

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Share:
    """A share of independent questions with its exact 95 % interval (Clopper-Pearson); None of nothing."""

    value: float | None
    low: float
    high: float

    @classmethod
    def of(cls, count: int, total: int) -> "Share":
        """The share `count` of `total`, both whole numbers, with its interval."""
        from demur.core.calibration.binomial import upper_bound

        half = (1 - CONFIDENCE) / 2
        high, low = upper_bound(count, total, half), 1 - upper_bound(total - count, total, half)
        return cls(count / total if total else None, float(low), float(high))

    @property
    def text(self) -> str:
        """In percent, with the interval."""
        if self.value is None:
            return "none"
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"


def verdict(error: Share, max_error: float) -> str:
    """What a share of wrong answers says of the error rate that was promised."""
    if error.low > max_error:
        return "not kept here: these questions may differ from the graded ones"
    return "kept here" if error.high <= max_error else "in keeping with it; more questions would tell"


@dataclass(frozen=True, slots=True)
class Promise:
    """One run under `asked`, a max_error. `max_error` is the level that served it, which may be smaller.

    `questions` counts one answer each, `answered` those that were given, `wrong` the wrong ones of these; `ungraded`
    were given and nobody could grade them. `exact` is false where the server only approximates.

    At level "claims" it is about asserted claims: `answered` are questions with one at least, and of each of these one
    was drawn at random to be right or wrong, as the promise is worded.
    """

    asked: float
    max_error: float
    delta: float
    exact: bool
    calibrator: str
    questions: int
    answered: int
    wrong: int
    ungraded: int
    error: Share
    coverage: Share
    level: Granularity = "response"
    mixed: tuple[str, ...] = ()
    """The calibrators with their thresholds, where answers came under several: one was replaced meanwhile."""

    def as_dict(self) -> dict[str, Any]:
        """For `metrics.json`."""
        return asdict(self)

    @property
    def verdict(self) -> str:
        """What the run says of the promise, which is about many runs."""
        if self.mixed:
            return "no one promise is of these answers"
        return verdict(self.error, self.max_error)


def promise_of(graded: Sequence[Graded], asked: float | None) -> Promise | None:
    """What a run under a max_error came to; None for any other. Of several samples of a question the first counts,
    because intervals need independent answers.
    """
    under = [one.output for one in graded if one.output.guarantee is not None]
    told = [output.guarantee for output in under if output.guarantee is not None]
    if asked is None or not told:
        return None
    held, level = told[0], _level(under[0])
    served = dict.fromkeys(f"{_id(each)} at {each['threshold']:g}" for each in told)
    firsts = [one for one in graded if one.key.sample == 0]
    given = [one.verdict.correct for one in firsts if one.output.decision == "answer"]
    if level == "claims":
        given = _one_asserted_each(firsts)
    wrong, judged = given.count(False), len(given) - given.count(None)
    return Promise(
        asked=asked,
        max_error=held["max_error"],
        delta=held["delta"],
        exact=held["exact"],
        calibrator=_id(held),
        questions=len(firsts),
        answered=len(given),
        wrong=wrong,
        ungraded=len(given) - judged,
        error=Share.of(wrong, judged),
        coverage=Share.of(len(given), len(firsts)),
        level=level,
        mixed=tuple(served) if len(served) > 1 else (),
    )


def _level(output: Output) -> Granularity:
    """What the server says that it decided on: runs of before asked for whole answers whatever they judged."""
    return "claims" if output.granularity == "claims" else "response"


def _one_asserted_each(graded: Sequence[Graded]) -> list[bool | None]:
    """Whether a claim is right, None where the judge gave no verdict: one drawn of those that each reply asserts."""
    draw = random.Random(0)
    asserted = (
        [
            correct
            for claim, correct in zip(one.output.claims, one.claims or (None,) * len(one.output.claims), strict=True)
            if decide_claim(claim.confidence, one.output.guarantee["threshold"]) == "assert"
        ]
        for one in graded
        if one.output.guarantee is not None
    )
    return [draw.choice(some) for some in asserted if some]


def _id(held: Mapping[str, Any]) -> str:
    return str(held["calibration"]["id"])


_ANSWERS = ("Answered", "Wrong", "given answers")
_CLAIMS = ("Asserted a claim for", "A claim drawn from each was wrong for", "of the drawn claims")


def lines_of(promise: Promise) -> list[str]:
    """The same in sentences."""
    level = "" if promise.max_error == promise.asked else f", served by {promise.max_error:g}"
    kind = "" if promise.exact else " (approximate, no promise)"
    claims = promise.level == "claims"
    answered, wrong, given = _CLAIMS if claims else _ANSWERS
    lines = [
        f"Asked for max_error {promise.asked:g}{level}{kind}, by {promise.calibrator}.",
        f"{answered} {promise.answered:,} of {promise.questions:,} questions: {promise.coverage.text}.",
        f"{wrong} {promise.wrong:,} of them: {promise.error.text}; {promise.verdict}.",
    ]
    if promise.ungraded:
        lines.append(f"{promise.ungraded:,} {given} could not be graded.")
    if promise.mixed:
        served = ", ".join(promise.mixed)
        lines.append(f"The server's calibrator changed meanwhile ({served}): ask again into another --out.")
    return lines
