"""An answer in words and lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from .untrusted import clean, clean_line
from .values import AnswerValues, Claim


def percent(p: float | None) -> str:
    """A probability as people read it: "62%"; "no confidence" for None."""
    return "no confidence" if p is None else f"{100 * p:.4g}%"


def plain(answer: AnswerValues) -> str:
    """The whole answer as text: its steps with their confidences, then the verdict."""
    pieces = segments(answer.text or "", answer.claims)
    lines = [line for piece, claim in pieces for line in piece_lines(piece, claim)]
    return "\n".join([*lines, "", decision_line(answer)]) if lines else decision_line(answer)


def segments(text: str, claims: tuple[Claim, ...]) -> Iterator[tuple[str, Claim | None]]:
    """The text in order, cut into claims and what stands between them. Spans that overlap are cut short."""
    at = 0
    for claim in sorted(claims, key=lambda claim: claim.span):
        start, end = max(claim.span[0], at), min(claim.span[1], len(text))
        if start >= end:
            continue
        if text[at:start]:
            yield text[at:start], None
        yield text[start:end], claim
        at = end
    if text[at:]:
        yield text[at:], None


def decision_line(answer: AnswerValues, sign: str = "?") -> str:
    """The answer and how sure the model is, or why there is none; a second line for a model nobody calibrated.

    `sign` is what marks a claim in doubt where the answer is shown.
    """
    remark = _promise(answer) if answer.calibrated else _uncalibrated(answer)
    if not answer:
        return f"No answer: {reason(answer)}.{remark}"
    return f"Answer: {clean_line(answer.answer or '')}   ({_assurance(answer, sign)}){remark}"


def _uncalibrated(answer: AnswerValues) -> str:
    why = f"\n{clean_line(answer.notice)}" if answer.notice else ""
    return f"\nThis model is not calibrated: its confidence is only a claim.{why}"


def _promise(answer: AnswerValues) -> str:
    """What an error rate that was asked for comes to, on a line of its own."""
    held = answer.guarantee
    if held is None:
        return ""
    graded = held.calibration
    like = f"for questions like its {graded.rows:,} graded ones"
    like += f" ({clean_line(graded.questions)})" if graded.questions else ""
    given = "asserted claims, one drawn from each problem," if answer.granularity == "claims" else "answers given so"
    if held.exact:
        return f"\nAt most {percent(held.max_error)} of the {given} are wrong, {_odds(held.delta)}, {like}."
    return f"\nAbout {percent(held.max_error)} of the {given} are wrong at most, {like}: approximate, no promise."


def _odds(delta: float) -> str:
    """1 - delta as people say it: 9 times in 10."""
    # The server says it in the same words (`demur.calibration.wording`); neither package imports the other.
    for tries in (10, 20, 50, 100, 1000):
        kept = (1 - delta) * tries
        if abs(kept - round(kept)) < 1e-9 and 0 < round(kept) < tries:
            return f"{round(kept)} times in {tries}"
    return f"with probability {1 - delta:g}"


def reason(answer: AnswerValues) -> str:
    """Why an answer abstains, as half a sentence."""
    asked, why = percent(answer.risk_threshold), "was asked for"
    if answer.guarantee is not None:
        why = f"keeps errors within {percent(answer.guarantee.max_error)}"
    sentences = {
        "below_threshold": f"the model is {percent(answer.confidence)} sure, and {asked} {why}",
        "confidence_missing": "the model did not say how sure it is",
        "confidence_invalid": "what the model wrote as its confidence is no probability",
        "answer_missing": "the output of the model holds none",
        "truncated": "the output was cut at the token limit; a larger max_tokens may help",
        "idk": f"the model declined at a risk threshold of {asked}",
    }
    return sentences.get(answer.reason or "", clean_line(answer.reason or "no reason given"))


def _assurance(answer: AnswerValues, sign: str) -> str:
    asked = percent(answer.risk_threshold)
    if answer.confidence_source == "none":
        return f"asked to be {asked} sure; this contract states no confidence"
    sure = "no confidence" if answer.confidence is None else f"{percent(answer.confidence)} sure"
    if answer.granularity == "claims":
        doubts = len(answer.highlighted)
        marked = f", marked {sign}" if doubts else ""
        return f"{sure}; {doubts} of {len(answer.claims)} claims in doubt at {asked}{marked}"
    return f"{sure}, {asked} needed" if answer.guarantee else f"{sure}, {asked} asked for"


def piece_lines(piece: str, claim: Claim | None) -> Iterator[str]:
    """A piece of text with the confidence in the margin and, below a doubtful claim, the doubt."""
    text = clean(piece).strip("\n")
    if not text.strip():
        return
    margin = "" if claim is None else f"{'?' if claim.highlighted else ' '} {_short(claim.confidence):>5}  "
    for number, line in enumerate(text.split("\n")):
        yield f"{margin if number == 0 else ' ' * len(margin)}{line}"
    if claim is not None and claim.highlighted and claim.explanation.strip():
        yield f"{' ' * len(margin)}({clean_line(claim.explanation)})"


def _short(p: float | None) -> str:
    return "none" if p is None else f"{100 * p:.3g}%"
