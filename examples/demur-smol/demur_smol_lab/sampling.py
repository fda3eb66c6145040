"""Stage 2: what the model answers, many times over, and how often it is right. Kept as lines of JSON."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from tqdm import tqdm

from demur.core.answers import ContractName
from demur_smol_lab.decoding import sample
from demur_smol_lab.grading import Graded, grade
from demur_smol_lab.llama import Llama
from demur_smol_lab.problems.problem import Problem, Step
from demur_smol_lab.tokens import Prompts, Vocabulary

PORTION = 8
"""Samples are written down when so many batches are there: the end of a portion, where rows are left empty, is rare."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One output of one problem. `problem_id` numbers the problems of one file; `logprobs` are natural logarithms of
    the probabilities with which the tokens `ids` were drawn."""

    problem_id: int
    problem: Problem
    contract: ContractName
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    text: str
    ended: bool
    graded: Graded


@dataclass(frozen=True, slots=True)
class Sampling:
    """How many samples of at most `limit` tokens, and how they are drawn: `batch` sequences at once."""

    contract: ContractName
    samples: int
    seed: int
    limit: int
    temperature: float = 1.0
    batch: int = 128


def draw(model: Llama, vocabulary: Vocabulary, problems: Sequence[Problem], how: Sampling, out: Path) -> list[Sample]:
    """Sample every problem; adapters are folded while it runs. A killed run goes on after its last whole portion."""
    out.parent.mkdir(parents=True, exist_ok=True)
    kept = list(read_samples(out)) if out.exists() else []
    size, count = max(1, PORTION * how.batch // how.samples), len(problems)
    whole = count if len(kept) == count * how.samples else len({s.problem_id for s in kept}) // size * size
    kept = [s for s in kept if s.problem_id < whole]
    _write(out, kept, "w")
    model.fold(+1)
    try:
        with tqdm(total=count * how.samples, initial=len(kept), desc=out.stem, unit="answer") as bar:
            for start in range(whole, count, size):
                found = _portion(model, vocabulary, problems, range(start, min(start + size, count)), how, bar.update)
                _write(out, found, "a")
                kept += found
    finally:
        model.fold(-1)
    return kept


def read_samples(path: Path) -> Iterator[Sample]:
    """The samples of a file; a last line cut short by a kill is left out."""
    for line in path.read_text().splitlines():
        try:
            yield _sample(json.loads(line))
        except json.JSONDecodeError:
            return


def _portion(
    model: Llama,
    vocabulary: Vocabulary,
    problems: Sequence[Problem],
    chosen: range,
    how: Sampling,
    done: Callable[[], object],
) -> list[Sample]:
    """The samples of some problems, in their order; `done` is called after each."""
    prompts = Prompts(vocabulary, how.contract)
    drawn = sample(
        model,
        prompts.prefix,
        prompts.rests([problems[i].question for i in chosen]),
        samples=how.samples,
        limit=how.limit,
        end=vocabulary.end,
        seed=how.seed * 1_000_003 + chosen.start,
        temperature=how.temperature,
        batch=how.batch,
    )
    found: list[Sample] = []
    for one in drawn:
        number = chosen[one.question]
        text = vocabulary.decode(one.ids)
        graded = grade(problems[number], how.contract, text, one.ended)
        logprobs = tuple(round(p, 4) for p in one.logprobs)
        found.append(Sample(number, problems[number], how.contract, one.ids, logprobs, text, one.ended, graded))
        done()
    return sorted(found, key=lambda s: s.problem_id)


def _write(path: Path, samples: Sequence[Sample], mode: str) -> None:
    with path.open(mode) as file:
        file.writelines(json.dumps(_row(s), ensure_ascii=False) + "\n" for s in samples)


def _row(sample: Sample) -> dict[str, Any]:
    """As `asdict` would, which copies every token."""
    row = {field.name: getattr(sample, field.name) for field in fields(sample)}
    return {**row, "problem": asdict(sample.problem), "graded": asdict(sample.graded)}


def _sample(row: dict[str, Any]) -> Sample:
    problem, graded = row["problem"], row["graded"]
    steps = tuple(Step(**step) for step in problem["steps"])
    asked = tuple((place, value) for place, value in problem["asked"])
    claims = tuple((p, ok) for p, ok in graded["claims"])
    return Sample(
        row["problem_id"],
        Problem(**{**problem, "facts": tuple(problem["facts"]), "steps": steps, "asked": asked}),
        row["contract"],
        tuple(row["ids"]),
        tuple(row["logprobs"]),
        row["text"],
        row["ended"],
        Graded(**{**graded, "claims": claims, "reasons": tuple(graded["reasons"])}),
    )
