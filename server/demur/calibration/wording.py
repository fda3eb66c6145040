"""How a calibrator is put into words: one place for the terminal and the page."""

import numpy as np

from demur.calibration.calibrate import Calibrated
from demur.calibration.calibrator import Calibrator, Guarantee

SIGNALS = {
    "verbalized": "what the model says of its own certainty",
    "critic": "what the model's critic says",
    "answer_logprob": "how likely the model found the words of its answer",
    "agreement": "how many further samples gave the same answer",
    "p_true": "whether the model says yes when asked if the answer is right",
}


def odds_of(delta: float) -> str:
    """1 - delta as a person says it: 9 times in 10."""
    # The Python client says it in the same words (`demur_client.wording`); neither package imports the other.
    for tries in (10, 20, 50, 100, 1000):
        held = (1 - delta) * tries
        if abs(held - round(held)) < 1e-9 and 0 < round(held) < tries:
            return f"{round(held)} times in {tries}"
    return f"with probability {1 - delta:g}"


def percent(share: float) -> str:
    """A share as a percentage without needless digits."""
    return f"{100 * share:.3g} %"


def confidence_needed(threshold: float) -> str:
    """A threshold in four digits, or in as many as it takes to be told from 1."""
    digits = next(n for n in range(4, 18) if threshold == 1 or float(f"{threshold:.{n}g}") < 1)
    return f"{threshold:.{digits}g}"


def promise(guarantee: Guarantee, calibrator: Calibrator) -> str:
    """What one guarantee comes to, in a sentence or two."""
    level = percent(guarantee.max_error)
    if guarantee.threshold is None:
        stricter = [g for g in calibrator.guarantees if g.threshold is not None and g.max_error < guarantee.max_error]
        if stricter:
            return f"No threshold of its own. What is promised at {percent(stricter[-1].max_error)} keeps this too."
        return f"At most {level} wrong cannot be promised. {sentence(guarantee.reason or '')}"
    return _kept(guarantee, calibrator, level) + _same_as(guarantee, calibrator)


def _kept(guarantee: Guarantee, calibrator: Calibrator, level: str) -> str:
    """What is answered, and how many of that are wrong."""
    in_100 = f"About {100 * guarantee.coverage:.0f} in 100"
    if calibrator.level == "claims":
        given = f"{in_100} problems have a claim asserted, and of their asserted claims, one drawn from each,"
    else:
        given = f"{in_100} questions are answered, and of those answers"
    if calibrator.certification.exact:
        return f"{given} at most {level} are wrong, {odds_of(calibrator.certification.delta)}."
    return f"{given} about {level} are wrong at most. This is an approximation and no promise."


def _same_as(guarantee: Guarantee, calibrator: Calibrator) -> str:
    """Where a smaller error rate has the same threshold, so that accepting more wrong answers gives no more of them."""
    same = [
        g for g in calibrator.guarantees if g.threshold == guarantee.threshold and g.max_error < guarantee.max_error
    ]
    return f" They are the same answers as at {percent(same[0].max_error)}." if same else ""


def on_average(found: Calibrated) -> str | None:
    """What was stated and what was true, in three numbers; None where nothing was stated."""
    stated, after = (rows.confidence[~np.isnan(rows.confidence)] for rows in (found.before, found.after))
    if not len(stated) or not len(after):
        return None
    right = f"Of these answers {percent(found.after.correct.mean())} are right."
    if found.calibrator.map.kind == "identity":
        return f"{right} The confidence is {percent(after.mean())} on average."
    return f"{right} The confidence was {percent(stated.mean())} on average before, and is {percent(after.mean())} now."


def odds_explained(calibrator: Calibrator) -> str | None:
    """What "9 times in 10" means, where it is said."""
    held = [g for g in calibrator.guarantees if g.threshold is not None]
    if not held or not calibrator.certification.exact:
        return None
    odds = odds_of(calibrator.certification.delta)
    if calibrator.certification.simultaneous:
        together = "All lines together hold that often."
    else:
        together = "Each line holds that often by itself: choose which you will use before you see them."
    return (
        f'"{odds[:1].upper()}{odds[1:]}" is about which answers happened to be graded. If many people each graded as'
        f" many answers of this kind, {odds} such a promise would be kept. The others had graded, by chance, too lucky"
        f" a set, and could not see it. {together}"
    )


def counted(calibrator: Calibrator) -> str | None:
    """Which of the graded answers the table of promises counts, where some of them fitted the map."""
    if calibrator.certification.mode != "split":
        return None
    kept = calibrator.map.kind == "identity"
    did = "decided that the confidence stays as it is" if kept else "made the confidence"
    return (
        f"Some of the {calibrator.rows:,} graded {graded(calibrator)} {did}. The others, about"
        f" {calibrator.certification.rows:,} questions, tested it and are counted here."
    )


def graded(calibrator: Calibrator) -> str:
    """What was graded, in the plural."""
    return "claims" if calibrator.level == "claims" else "answers"


def sentence(text: str) -> str:
    """The text with a capital at its start and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def carried(found: Calibrated) -> str:
    """Which signal carried the calibrator."""
    calibrator = found.calibrator
    if calibrator.map.kind == "identity":
        name = calibrator.map.signal
        if calibrator.certification.mode == "raw":
            return f"{name} is served as it is, as asked."
        return f"Nothing beats the raw number: {name} is served as it is."
    shares = sorted((s for s in found.shares if s.share > 0), key=lambda s: -s.share)
    if not shares:
        return "No signal tells right from wrong here: every answer gets the same confidence."
    if len(shares) == 1:
        line = f"{shares[0].name} alone carries the map."
    else:
        parts = ", ".join(f"{s.name} {s.share:.0%}" for s in shares)
        line = f"{shares[0].name} carries most of the map: {parts}."
    return line if _better(found) else f"{line} On these rows it is not clearly better than the raw number."


def _better(found: Calibrated) -> bool:
    """Whether the Brier score fell by more than its interval."""
    high = found.differences["brier"].difference.high
    return high is not None and high < 0


def how_certified(calibrator: Calibrator) -> str:
    """On which rows the thresholds were certified, and how far the promise goes."""
    c = calibrator.certification
    of = {
        "split": "questions that had no part in making the confidence",
        "cross-fit": "questions, each with a confidence made from the others",
        "raw": "questions, with the signal as it is",
    }[c.mode]
    unit = "one claim drawn from each at every threshold" if calibrator.level == "claims" else "one answer to each"
    lines = [f"The promises were tested on {c.rows:,} {of}, {unit}."]
    if not c.exact:
        lines.append("The confidence that is served was made again from all of them, so the promise is approximate.")
    if c.simultaneous:
        lines.append("All error rates hold together.")
    if c.look:
        lines.append(f"Try number {c.look} while more answers were being graded: delta is divided by {2**c.look}.")
    return " ".join(lines)


def valid_for(calibrator: Calibrator) -> list[tuple[str, str]]:
    """What the calibrator is valid for, as names and values."""
    if calibrator.model is None:
        return [("model", "not known: the rows came without a run card, so a server does not take this calibrator")]
    model = calibrator.model
    lines = [("model", model.name or "not named"), ("fingerprint", model.fingerprint or "not known")]
    for name in ("contract", "prompt", "granularity", "aggregation"):
        value = getattr(calibrator, name)
        if value is not None:
            lines.append((name, str(value)))
    lines += [(name, str(value)) for name, value in calibrator.sampling.items() if value is not None]
    return lines


def notes(found: Calibrated) -> list[str]:
    """What else a reader has to know."""
    calibrator = found.calibrator
    to = "about" if calibrator.level == "claims" else "to"
    lines = [f"{calibrator.rows:,} graded {graded(calibrator)} {to} {calibrator.problems:,} questions."]
    if found.ungraded:
        lines.append(f"{found.ungraded:,} that nobody could grade are left out.")
    lines.append(how_certified(calibrator))
    if (least := _hint(calibrator)) is not None:
        lines.append(
            f"With these grades, {percent(least)} is the least that could be promised. That was found by looking at"
            " them, so it is a hint for the next ones and no promise."
        )
    these = f"the graded ones ({calibrator.questions})" if calibrator.questions else "the graded ones"
    lines.append(f"All of this holds for questions like {these}, asked in the same way, and for no others.")
    if calibrator.model is None:
        lines.append(
            "Which model gave the answers is not known, since the rows came without a run card: demur calibrators apply"
            " takes this file, a server does not."
        )
    return lines


def _hint(calibrator: Calibrator) -> float | None:
    """The least error rate that the rows carry, where it is below all that are certified."""
    least, held = calibrator.smallest_max_error, [g for g in calibrator.guarantees if g.threshold is not None]
    return least if least is not None and all(least < g.max_error for g in held) else None
