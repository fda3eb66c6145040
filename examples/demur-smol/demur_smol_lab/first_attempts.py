"""First attempts, written out before the answer: whether the second one agrees tells a slip from knowledge.

A sample drawn with little probability is mostly wrong, but a small network hardly learns to read the probability of its
own tokens off its states. Two attempts side by side in the text it can compare. Nothing but the model's own samples
teaches it: a pair of independent answers to one problem, one as the first attempt of the other, so that the second
attempt does not become a copy of the first.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from demur_smol_lab.sampling import Sample
from demur_smol_lab.tokens import Vocabulary
from demur_smol_lab.worked_answers import FIRST_ATTEMPT, SOLUTION


def split(text: str) -> tuple[str, str]:
    """The first attempt with its line break, empty if there is none, and the rest."""
    lines = text.splitlines(keepends=True)
    attempted = next((i + 1 for i, line in enumerate(lines) if line.startswith(FIRST_ATTEMPT)), 0)
    return "".join(lines[:attempted]), "".join(lines[attempted:])


def count_lines(sample: Sample) -> int:
    """How many lines the first attempt takes."""
    return split(sample.text)[0].count("\n")


def count_working(sample: Sample) -> int:
    """How many lines come before the solution; all, where the answer is not solved in claims."""
    lines = sample.text.splitlines()
    return lines.index(SOLUTION) if SOLUTION in lines else len(lines)


def pair(samples: Sequence[Sample], vocabulary: Vocabulary) -> list[Sample]:
    """Each well-formed sample with another one of the same problem as its first attempt, in turn; problems with a
    single one are left out."""
    asked: dict[tuple[str, str], list[Sample]] = defaultdict(list)
    for sample in samples:
        if not sample.graded.violation:
            asked[sample.contract, sample.problem.question].append(sample)
    return [
        _after(sample, as_first_attempt(other), vocabulary)
        for answers in asked.values()
        if len(answers) > 1
        for sample, other in zip(answers, [*answers[1:], answers[0]], strict=True)
    ]


def agreement(sample: Sample) -> tuple[bool, list[bool]]:
    """Whether the answer is that of the first attempt, and so each claim's step; without one nothing agrees."""
    steps, claims = split(sample.text)[0].splitlines(), working(sample)
    said = bool(steps) and steps[-1].removeprefix(FIRST_ATTEMPT).strip() == answer(sample)
    return said, [i < len(steps) - 1 and steps[i] == claim for i, claim in enumerate(claims)]


def working(sample: Sample) -> list[str]:
    """The lines of its working, one for each claim."""
    return split(sample.text)[1].splitlines()[: len(sample.graded.claims)]


def as_first_attempt(sample: Sample) -> str:
    """A well-formed output, without its own first attempt and its confidences, as the first attempt of another one."""
    _, said = split(sample.text)
    worked = said.partition(f"\n{SOLUTION}" if sample.contract == "claims" else "Answer:")[0].rstrip("\n")
    attempted = f"{FIRST_ATTEMPT}{answer(sample)}\n"
    return f"{worked}\n{attempted}" if worked else attempted


def answer(sample: Sample) -> str:
    """The final answer, empty where there is none."""
    return sample.graded.answer


def _after(sample: Sample, first: str, vocabulary: Vocabulary) -> Sample:
    ids = vocabulary.encode(first)
    _, rest = split(sample.text)
    before = len(sample.ids) - len(vocabulary.encode(rest)) if rest != sample.text else 0
    return replace(
        sample,
        ids=(*ids, *sample.ids[before:]),
        logprobs=(*[0.0] * len(ids), *sample.logprobs[before:]),
        text=first + rest,
    )
