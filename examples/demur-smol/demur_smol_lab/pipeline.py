"""The training pipeline. A stage is skipped when its result is there, and goes on where it was killed.

The stages in order, each named as its folder in a run is:

warm-start   the form of both contracts, meaningless confidences
samples      what that model answers to training problems, and its histogram of difficulty
empirical    a first attempt before every answer; the confidence becomes the estimated chance of success
brier        what became of fresh outputs pulls through the exact expected Brier score
outcome      again, with the outputs of the model as it is by then
finish       and once more, in smaller steps
critic       a value head, fitted on the merged model's own answers
measured     validation problems; the other tables only when asked for

`merged` within a stage has its adapters in the base's weights: a folder that `demur serve --model` takes.
"""

import json
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from demur.core.answers import ContractName
from demur.model.merging import merge
from demur_smol_lab import Stage, critic, curriculum, first_attempts, losses, measuring, training_rows, warm_start
from demur_smol_lab.artefact import CRITIC, FINAL, NAME, adopt, manifest, peft_tensors
from demur_smol_lab.confidence_targets import estimate
from demur_smol_lab.critic import Course
from demur_smol_lab.curriculum import CONTRACTS
from demur_smol_lab.llama import Llama, faster
from demur_smol_lab.packing import LazyRow
from demur_smol_lab.plan import ON_A_CPU, Plan
from demur_smol_lab.problems.histogram import chance_by, difficulty, table
from demur_smol_lab.problems.problem import Problem
from demur_smol_lab.problems.splits import Measured
from demur_smol_lab.sampling import Sample, Sampling, draw, read_samples
from demur_smol_lab.tokens import Vocabulary
from demur_smol_lab.training import Loss, Schedule, load_adapter, save_adapter, train
from demur_smol_lab.training_rows import FIRM, LOOSE
from demur_training.errors import DataError

MERGED = ".merged"
CHECKED = "checked"
"""What the critic is fitted on."""
DRAWS = "sampled", "fresh", "last", "newest"
ROUNDS: tuple[Stage, ...] = "empirical", "brier", "outcome", FINAL
"""The stage that learns from each draw."""
TABLED = 1.5
"""Validation problems under each contract that the lookup table is made of, for each that is measured under `response`:
cells of a few answers would make a baseline that is easily beaten."""


@dataclass(slots=True)
class Pipeline:
    """One run of the training pipeline: the base model's folder, the folder everything is written to, and the plan."""

    base: Path
    out: Path
    plan: Plan
    device: str = "cpu"

    def __post_init__(self) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        kept, wanted = self.out / "plan.json", json.dumps(asdict(self.plan), indent=2) + "\n"
        if kept.exists() and kept.read_text() != wanted:
            raise DataError(f"{self.out} was begun with another plan: see {kept}, or choose another folder")
        kept.write_text(wanted)

    def run(self, until: Stage = "measured") -> None:
        """The stages up to `until`; the last one is the table over validation problems."""
        next(stage for stage in self._stages() if stage == until)

    def _stages(self) -> Iterator[Stage]:
        """Goes through the stages, each named once it is finished."""
        vocabulary = Vocabulary(self.base)
        self.warm_start(vocabulary)
        yield "warm-start"
        drawn = self.sample(vocabulary)
        yield "samples"
        yield from self.teach(vocabulary, drawn)
        self.critic(vocabulary)
        yield "critic"
        self.measure(vocabulary, "validation")
        yield "measured"

    def model(self, stage: str | None = None) -> Llama:
        """The base with fresh adapters, or with those of a finished stage."""
        torch.manual_seed(self.plan.seed)
        rank, adapted = self.plan.rank, self.plan.adapted
        model = Llama(self.base, rank=rank, adapted=adapted, precision=self._precision, device=self.device)
        if stage:
            load_adapter(model, self.out / stage / "adapter.pt")
        return model

    def adopt(self, artefact: Path) -> None:
        """Take what was exported for the finished model. Raises DataError when it belongs to another base."""
        model = self.model()
        adopt(model, artefact)
        save_adapter(model, self.out / FINAL)
        shutil.copy(artefact / CRITIC, self.out / CRITIC)

    def merged(self, stage: str = FINAL) -> Path:
        """A stage's model as it would ship: adapters rounded to bfloat16 and merged into the base's own precision."""
        folder = self.out / stage / "merged"
        if not (folder / MERGED).exists():
            shutil.copytree(self.base, folder, dirs_exist_ok=True)
            merge(folder, peft_tensors(self.model(stage)))
            name = NAME if stage == FINAL else f"{NAME}-{stage}"
            manifest(self.plan, {}).model_copy(update={"name": name}).write(folder)
            (folder / MERGED).touch()
        return folder

    def finished(self, stage: str = FINAL) -> Llama:
        """The merged model of a stage."""
        return Llama(self.merged(stage), precision=self._precision, device=self.device)

    def _trained(self, stage: str) -> bool:
        return (self.out / stage / "adapter.pt").exists()

    @property
    def _precision(self) -> torch.dtype:
        if self.plan.precision != "auto":
            return getattr(torch, self.plan.precision)
        return torch.bfloat16 if self.device == "cuda" else faster()

    @property
    def _batch(self) -> int:
        return self.plan.batch if self.device == "cuda" else min(self.plan.batch, ON_A_CPU)

    def warm_start(self, vocabulary: Vocabulary) -> None:
        if self._trained("warm-start"):
            return
        plan = self.plan
        rows = warm_start.rows(curriculum.warm_start(plan), vocabulary, tokens=plan.row_tokens, seed=plan.seed)
        train(self.model(), rows, losses.imitation, Schedule(plan.warm_rate), self.out / "warm-start")

    def sample(self, vocabulary: Vocabulary) -> list[Sample]:
        """Sample training problems from the warm start, and write down how hard they were for it. Nothing is drawn once
        the stage that learns from it is finished."""
        if self._trained(ROUNDS[0]):
            return []
        plan, model = self.plan, self.model("warm-start")
        count, times = plan.graded
        chosen = curriculum.graded(count, plan.seed + 1000)
        graded = self._draw(model, vocabulary, "graded", "response", chosen, plan.seed + 1000, times)
        (self.out / "histogram.txt").write_text(histogram(graded))
        return self._round(model, vocabulary, 0)

    def drawn(self, name: str) -> list[Sample]:
        """The samples of one name again, from their files."""
        return [s for file in sorted((self.out / "samples").glob(f"{name}-*.jsonl")) for s in read_samples(file)]

    def teach(self, vocabulary: Vocabulary, drawn: list[Sample]) -> Iterator[Stage]:
        """Four rounds, each from what the one before left. Nothing before the last finished one is gone through again:
        a run goes on elsewhere without the draws that it has learned from."""
        done = max((number for number, stage in enumerate(ROUNDS, 1) if self._trained(stage)), default=0)
        yield from ROUNDS[:done]
        model = self.model(("warm-start", *ROUNDS)[done])
        for number, stage in [*enumerate(ROUNDS)][done:]:
            rows, loss, rate = self._round_rows(model, vocabulary, drawn, number)
            worked = self._worked(vocabulary, number, self._first_attempts(model, vocabulary, number))
            mixed = [*rows, *worked]
            random.Random(self.plan.seed).shuffle(mixed)
            train(model, mixed, loss, Schedule(rate), self.out / stage)
            yield stage

    def _round_rows(
        self, model: Llama, vocabulary: Vocabulary, drawn: list[Sample], number: int
    ) -> tuple[list[LazyRow], Loss, float]:
        """What a round learns from, how and at which rate: first the confidence targets of the warm start's
        samples, each after another one as its first attempt; thrice what became of fresh ones."""
        plan = self.plan
        tokens, seed = plan.round_tokens, plan.seed
        rate = (plan.empirical_rate, plan.brier_rate, plan.outcome_rate, plan.finish_rate)[number]
        if number == 0:
            targets = estimate(first_attempts.pair(drawn, vocabulary), vocabulary, consistent=plan.consistent)
            rows = training_rows.empirical_rows(targets, vocabulary, tokens=tokens, seed=seed)
            return rows, losses.imitation, rate
        hold = LOOSE if number == 1 else FIRM
        targets = estimate(self._round(model, vocabulary, number), vocabulary, consistent=plan.consistent)
        rows = training_rows.scored_rows(targets, vocabulary, hold, outcome=plan.outcome, tokens=tokens, seed=seed)
        return rows, losses.ExactBrier(vocabulary.digits, anchor=hold.anchor), rate

    def _round(self, model: Llama, vocabulary: Vocabulary, number: int) -> list[Sample]:
        """The draw of one round: problems of all families in several wordings, and school problems."""
        plan, name = self.plan, DRAWS[number]
        counts: tuple[int, int] = getattr(plan, name)
        seed = plan.seed + 2000 + 1000 * number
        school, drawn = curriculum.school(plan, number), list[Sample]()
        for contract, count in zip(CONTRACTS, counts, strict=True):
            chosen = [*curriculum.posed(count, plan.wordings, seed), *school[contract]]
            drawn += self._draw(model, vocabulary, name, contract, chosen, seed, plan.times)
        return drawn

    def _worked(
        self, vocabulary: Vocabulary, number: int, attempts: Mapping[tuple[ContractName, str], str] | None = None
    ) -> list[LazyRow]:
        """Worked answers to further problems for round `number`, after first `attempts` at them, their confidences
        left out of the loss: they keep working and form from drifting, and mend what a first attempt got wrong."""
        shown, seed = curriculum.worked(self.plan, number), curriculum.worked_seed(self.plan, number)
        return warm_start.rows(
            shown, vocabulary, tokens=self.plan.round_tokens, seed=seed, confidence_weight=0.0, attempts=attempts
        )

    def _first_attempts(
        self, model: Llama, vocabulary: Vocabulary, number: int
    ) -> Mapping[tuple[ContractName, str], str]:
        """The model's own first attempts at the problems of round `number` that will be shown worked out."""
        found: dict[tuple[ContractName, str], str] = {}
        for contract, limit in zip(CONTRACTS, self.plan.limits, strict=True):
            asked = [problem for problem, other in curriculum.worked(self.plan, number) if other == contract]
            how = Sampling(contract, 1, curriculum.worked_seed(self.plan, number), limit, batch=self._batch)
            out = self.out / "samples" / f"worked-{DRAWS[number]}-{contract}.jsonl"
            for one in draw(model, vocabulary, asked, how, out):
                if not one.graded.violation:
                    own, _ = first_attempts.split(one.text)
                    found[contract, one.problem.question] = own or first_attempts.as_first_attempt(one)
        return found

    def critic(self, vocabulary: Vocabulary) -> dict[str, Tensor]:
        """Fit the value head on fresh answers of the finished model to training problems, or load the fitted one."""
        kept = self.out / CRITIC
        if not kept.exists():
            model, seed, drawn = self.finished(), self.plan.seed + 7000, list[Sample]()
            for contract, count in zip(CONTRACTS, self.plan.checked, strict=True):
                chosen = curriculum.posed(count, 1, seed)
                drawn += self._draw(model, vocabulary, CHECKED, contract, chosen, seed, 1)
            weight, bias = critic.fit(model, vocabulary, drawn)
            save_file({"score.weight": weight, "score.bias": bias}, kept)
        return load_file(kept)

    def measure(self, vocabulary: Vocabulary, table: Measured) -> str:
        """The finished model (merged), lookup table and critic over one table's problems, as a table.

        The lookup table knows how often this model was right on validation problems of a family and size, which it is
        asked the first time. For the tables that are no test, `validation` and `choosing`, it knows the last draw of
        training and the critic's.

        The figures go to `table-TABLE.json`.
        """
        found: dict[str, dict[str, Any]] = {}
        model = self.finished()
        for contract in CONTRACTS:
            samples = self.answers(model, vocabulary, FINAL, contract, table)
            found[f"{FINAL}, {contract}"] = measuring.figures(samples) | {measuring.KINDS: measuring.kinds(samples)}
            if known := self.tabled(model, vocabulary, contract, table):
                by_cell = measuring.lookup(known, samples)
                found[f"lookup table, {contract}"] = measuring.figures(samples, by_cell)
                found[f"{FINAL}, {contract}"][measuring.LEAD] = measuring.lead(samples, by_cell)
            courses = self.judged(model, vocabulary, contract, table, samples)
            last = [None if one is None else one.places[-1] for one in courses]
            found[f"critic, {contract}"] = {
                **measuring.figures(samples, last),
                measuring.ALONG: measuring.along(samples, courses),
            }
            if contract == "claims":
                found[f"{FINAL}, single claims"] = measuring.claim_figures(samples)
                found[f"{FINAL}, single claims"]["reasons"] = asdict(measuring.doubt(samples))
        (self.out / f"table-{table}.json").write_text(json.dumps(found, indent=2) + "\n")
        return measuring.markdown(found)

    def tabled(self, model: Llama, vocabulary: Vocabulary, contract: ContractName, table: Measured) -> Sequence[Sample]:
        """The answers that the lookup table is made of; none of them is to a problem of `table`."""
        if table in ("validation", "choosing"):
            drawn = (sample for name in (DRAWS[-1], CHECKED) for sample in self.drawn(name))
            return [sample for sample in drawn if sample.contract == contract]
        chosen = curriculum.tabled(table, contract, int(TABLED * self.plan.measured[0]), self.plan.seed)
        limit = dict(zip(CONTRACTS, self.plan.limits, strict=True))[contract]
        how = Sampling(contract, 1, self.plan.seed + 1, limit, batch=self._batch)
        kind = "adjacent" if table == "adjacent" else "own"
        return draw(model, vocabulary, chosen, how, self.out / "measured" / f"lookup-{contract}-{kind}.jsonl")

    def answers(
        self, model: Llama, vocabulary: Vocabulary, stage: str, contract: ContractName, table: Measured
    ) -> list[Sample]:
        """One answer of a stage's model to each problem of a table."""
        plan = self.plan
        count, limit = (dict(zip(CONTRACTS, pair, strict=True))[contract] for pair in (plan.measured, plan.limits))
        chosen = curriculum.measured(table, contract, count, plan.seed)
        how = Sampling(contract, 1, plan.seed + 1, limit, batch=self._batch)
        return draw(model, vocabulary, chosen, how, self.out / "measured" / f"{stage}-{contract}-{table}.jsonl")

    def _draw(
        self,
        model: Llama,
        vocabulary: Vocabulary,
        name: str,
        contract: ContractName,
        chosen: Sequence[Problem],
        seed: int,
        samples: int,
    ) -> list[Sample]:
        """So many samples of each problem, kept under a name."""
        limit = dict(zip(CONTRACTS, self.plan.limits, strict=True))[contract]
        how = Sampling(contract, samples, seed, limit, batch=self._batch)
        return draw(model, vocabulary, chosen, how, self.out / "samples" / f"{name}-{contract}.jsonl")

    def judged(
        self, model: Llama, vocabulary: Vocabulary, contract: ContractName, table: Measured, samples: list[Sample]
    ) -> list[Course | None]:
        """The critic's values over each sample of a table; none where the form was violated."""
        kept = self.out / "measured" / f"courses-{contract}-{table}.json"
        if not kept.exists():
            found = self._judge(model, vocabulary, samples)
            kept.write_text(json.dumps([None if one is None else asdict(one) for one in found]))
        return [None if one is None else Course(**one) for one in json.loads(kept.read_text())]

    def _judge(self, model: Llama, vocabulary: Vocabulary, samples: list[Sample]) -> list[Course | None]:
        head, found = self.critic(vocabulary), list[Course | None]([None] * len(samples))
        for number, seen in critic.states(model, vocabulary, samples):
            if not samples[number].graded.violation:
                found[number] = critic.course(critic.values(seen, head["score.weight"], head["score.bias"]))
        return found


def histogram(drawn: list[Sample]) -> str:
    """Measured chance of each problem that was sampled several times, and the mean of each cell."""
    by_problem = chance_by((f"{s.problem_id:06d}", s.graded.valid) for s in drawn)
    by_cell = chance_by((s.problem.cell, s.graded.valid) for s in drawn)
    cells = "\n".join(f"{cell:20} {chance:.2f}" for cell, chance in by_cell.items())
    return f"{table(difficulty(list(by_problem.values())))}\n\n{cells}\n"
