"""The training pipeline. A stage is skipped when its result is there, and goes on where it was killed.

The stages in order, each named as its folder in a run is:

warm-start   the form of both contracts, meaningless confidences
samples      what that model answers to training problems, and its histogram of difficulty
empirical    a first attempt before every answer; the confidence becomes the estimated chance of success
brier        what became of fresh outputs pulls through the exact expected Brier score
outcome      again, with the outputs of the model as it is by then
settle       and once more, in smaller steps
twin         binary-reward baseline of the tables: the warm start's right samples, as many steps as the four rounds
blend        adapter average: the mean of the last two, and a share of what the baseline learned
finish       what became of the average's outputs pulls once more, beside hard negatives and school problems in claims
critic       a value head, fitted on the merged model's own answers
measured     validation problems, before and after; test problems only when asked for

`merged` within a stage has its adapters in the base's weights: a folder that `demur serve --model` takes.
"""

import json
import random
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain, cycle, islice
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from demur.core.answers import ContractName
from demur.model.merging import merge
from demur_smol_lab import Stage, critic, curriculum, first_attempts, losses, measuring, training_rows, warm_start
from demur_smol_lab.artefact import CRITIC, FINAL, NAME, adopt, manifest, peft_tensors
from demur_smol_lab.confidence_targets import estimate
from demur_smol_lab.curriculum import CONTRACTS
from demur_smol_lab.llama import Llama, faster
from demur_smol_lab.packing import LazyRow
from demur_smol_lab.plan import Plan
from demur_smol_lab.problems.histogram import chance_by, difficulty, table
from demur_smol_lab.problems.splits import Split
from demur_smol_lab.sampling import Sample, Sampling, draw, read_samples
from demur_smol_lab.tokens import Vocabulary
from demur_smol_lab.training import Loss, Schedule, average_adapters, load_adapter, save_adapter, train
from demur_smol_lab.training_rows import FIRM, LOOSE
from demur_training.errors import DataError

MERGED = ".merged"
CHECKED = "checked"
"""What the critic is fitted on."""
DRAWS = "sampled", "fresh", "last", "newest", "blended"
ROUNDS: tuple[Stage, ...] = "empirical", "brier", "outcome", "settle"
BINARY_BASELINE: Stage = "twin"
ADAPTER_AVERAGE: Stage = "blend"
TAUGHT = *ROUNDS, FINAL
"""The stage that learns from each draw; the last draw comes from the adapter average."""


@dataclass(slots=True)
class Pipeline:
    """One run of the training pipeline: the base model's folder, the folder everything is written to, and the plan."""

    base: Path
    out: Path
    plan: Plan

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
        self.binary_baseline(vocabulary, drawn)
        yield BINARY_BASELINE
        self.average_adapters()
        yield ADAPTER_AVERAGE
        self.finish(vocabulary)
        yield FINAL
        self.critic(vocabulary)
        yield "critic"
        self.measure(vocabulary, "validation")
        yield "measured"

    def model(self, stage: str | None = None) -> Llama:
        """The base with fresh adapters, or with those of a finished stage."""
        torch.manual_seed(self.plan.seed)
        model = Llama(self.base, rank=self.plan.rank, adapted=self.plan.adapted, precision=self._precision)
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
        return Llama(self.merged(stage), precision=self._precision)

    def _trained(self, stage: str) -> bool:
        return (self.out / stage / "adapter.pt").exists()

    @property
    def _precision(self) -> torch.dtype:
        return faster() if self.plan.precision == "auto" else getattr(torch, self.plan.precision)

    def warm_start(self, vocabulary: Vocabulary) -> None:
        plan = self.plan
        rows = warm_start.rows(curriculum.warm_start(plan), vocabulary, tokens=plan.row_tokens, seed=plan.seed)
        train(self.model(), rows, losses.imitation, Schedule(plan.warm_rate), self.out / "warm-start")

    def sample(self, vocabulary: Vocabulary) -> list[Sample]:
        """Sample training problems from the warm start, and write down how hard they were for it."""
        plan, model = self.plan, self.model("warm-start")
        problems, times = plan.graded
        graded = self._draw(model, vocabulary, "graded", (problems, 0), seed=plan.seed + 1000, samples=times)
        (self.out / "histogram.txt").write_text(histogram(graded))
        return graded + self._round(model, vocabulary, 0)

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
            self._teach(model, rows, loss, rate, vocabulary, number)
            yield stage

    def _round_rows(
        self, model: Llama, vocabulary: Vocabulary, drawn: list[Sample], number: int
    ) -> tuple[list[LazyRow], Loss, float]:
        """What a round learns from, how and at which rate: first the confidence targets of the warm start's
        samples, each after another one as its first attempt; thrice what became of fresh ones."""
        plan = self.plan
        tokens, seed = plan.row_tokens, plan.seed
        rate = (plan.empirical_rate, plan.brier_rate, plan.outcome_rate, plan.settle_rate)[number]
        if number == 0:
            targets = estimate(first_attempts.pair(drawn, vocabulary), vocabulary)
            rows = training_rows.empirical_rows(targets, vocabulary, tokens=tokens, seed=seed)
            return rows, losses.imitation, rate
        hold = LOOSE if number == 1 else FIRM
        targets = estimate(self._round(model, vocabulary, number), vocabulary)
        rows = training_rows.scored_rows(targets, vocabulary, hold, tokens=tokens, seed=seed)
        return rows, losses.ExactBrier(vocabulary.digits, anchor=hold.anchor), rate

    def _round(self, model: Llama, vocabulary: Vocabulary, number: int) -> list[Sample]:
        """The draw of one round: graded problems and the others of `curriculum`.

        Those are asked once, but where one answer is to be the first attempt of another."""
        plan, name = self.plan, DRAWS[number]
        counts: tuple[int, int] = getattr(plan, name)
        seed = plan.seed + 2000 + 1000 * number
        drawn = self._draw(model, vocabulary, name, counts, seed=seed, samples=plan.times)
        others = curriculum.others(plan, number, seed)
        for contract, limit in zip(CONTRACTS, plan.limits, strict=True):
            if others[contract]:
                how = Sampling(contract, 1 if number else plan.times, seed + 500, limit, batch=plan.batch)
                out = self.out / "samples" / f"{name}-more-{contract}.jsonl"
                drawn += draw(model, vocabulary, others[contract], how, out)
        return drawn

    def _teach(
        self,
        model: Llama,
        rows: list[LazyRow],
        loss: Loss,
        rate: float,
        vocabulary: Vocabulary,
        number: int,
    ) -> None:
        worked = self._worked(vocabulary, number, self._first_attempts(model, vocabulary, number))
        mixed = [*rows, *worked]
        random.Random(self.plan.seed).shuffle(mixed)
        train(model, mixed, loss, Schedule(rate), self.out / TAUGHT[number])

    def _worked(
        self, vocabulary: Vocabulary, number: int, attempts: Mapping[tuple[ContractName, str], str] | None = None
    ) -> list[LazyRow]:
        """Worked answers to further problems for round `number`, after first `attempts` at them, their confidences
        left out of the loss: they keep working and form from drifting, and mend what a first attempt got wrong."""
        shown, seed = curriculum.worked(self.plan, number), curriculum.worked_seed(self.plan, number)
        return warm_start.rows(
            shown, vocabulary, tokens=self.plan.row_tokens, seed=seed, confidence_weight=0.0, attempts=attempts
        )

    def _first_attempts(
        self, model: Llama, vocabulary: Vocabulary, number: int
    ) -> Mapping[tuple[ContractName, str], str]:
        """The model's own first attempts at the problems of round `number` that will be shown worked out."""
        found: dict[tuple[ContractName, str], str] = {}
        for contract, limit in zip(CONTRACTS, self.plan.limits, strict=True):
            asked = [problem for problem, other in curriculum.worked(self.plan, number) if other == contract]
            how = Sampling(contract, 1, curriculum.worked_seed(self.plan, number), limit, batch=self.plan.batch)
            out = self.out / "samples" / f"worked-{DRAWS[number]}-{contract}.jsonl"
            for one in draw(model, vocabulary, asked, how, out):
                if not one.graded.violation:
                    own, _ = first_attempts.split(one.text)
                    found[contract, one.problem.question] = own or first_attempts.as_first_attempt(one)
        return found

    def binary_baseline(self, vocabulary: Vocabulary, drawn: list[Sample]) -> None:
        """The binary-reward baseline of the four rounds: same start and samples, as many steps, the same worked
        answers."""
        plan = self.plan
        steps = sum(count_lines(self.out / stage / "curve.jsonl") for stage in ROUNDS)
        worked = [row for number in range(len(ROUNDS)) for row in self._worked(vocabulary, number)]
        rows = training_rows.binary_rows(drawn, vocabulary, tokens=plan.row_tokens, seed=plan.seed)
        repeated = [*islice(cycle(rows), steps - len(worked)), *worked]
        random.Random(plan.seed).shuffle(repeated)
        train(
            self.model("warm-start"), repeated, losses.imitation, Schedule(plan.brier_rate), self.out / BINARY_BASELINE
        )

    def average_adapters(self) -> None:
        """The mean of the adapters of the last two of the four rounds, and the planned share of what the binary-reward
        baseline learned since the warm start.

        The pull on the confidences leaves little of a step to the words; the baseline learns nothing else. As both
        began at the warm start, what either changed can be added to the other."""
        if self._trained(ADAPTER_AVERAGE):
            return
        share, last = self.plan.twin_share, ROUNDS[2:]
        parts = {**dict.fromkeys(last, 1 / len(last)), BINARY_BASELINE: share, "warm-start": -share}
        average_adapters({self.out / stage: weight for stage, weight in parts.items()}, self.out / ADAPTER_AVERAGE)

    def finish(self, vocabulary: Vocabulary) -> None:
        """The last round: the average is right more often than the models whose outputs taught it its confidences.

        Right outputs come once more for their words alone, a step for each row of them."""
        plan, model = self.plan, self.model(ADAPTER_AVERAGE)
        targets = estimate(self._round(model, vocabulary, curriculum.LAST), vocabulary)
        rows = [
            made(targets, vocabulary, FIRM, tokens=plan.row_tokens, seed=plan.seed)
            for made in (training_rows.scored_rows, training_rows.right_rows)
        ]
        loss = losses.ExactBrier(vocabulary.digits, anchor=FIRM.anchor)
        self._teach(model, [*chain(*rows)], loss, plan.finish_rate, vocabulary, curriculum.LAST)

    def critic(self, vocabulary: Vocabulary) -> dict[str, Tensor]:
        """Fit the value head on fresh answers of the finished model to training problems, or load the fitted one."""
        kept = self.out / CRITIC
        if not kept.exists():
            model = self.finished()
            drawn = self._draw(model, vocabulary, CHECKED, self.plan.checked, seed=self.plan.seed + 7000)
            states = critic.last_states(model, vocabulary, drawn)
            weight, bias = critic.fit(states, [s.graded.valid for s in drawn])
            save_file({"score.weight": weight, "score.bias": bias}, kept)
        return load_file(kept)

    def measure(self, vocabulary: Vocabulary, split: Split) -> str:
        """Warm start, binary-reward baseline if it is there, lookup table and ours (merged) over one split, as a table.

        The lookup table knows the last draw and the critic's: how often the model was right as it is, or nearly so.

        The figures go to `table-SPLIT.json`.
        """
        found: dict[str, dict[str, object]] = {}
        drawn = [sample for name in (DRAWS[-1], CHECKED) for sample in self.drawn(name)]
        for stage in filter(self._trained, ("warm-start", BINARY_BASELINE, FINAL)):
            model = self.finished(stage)
            asked = (self.plan.measured[0], self.plan.doubted if stage == FINAL else self.plan.measured[1])
            for contract, count, limit in zip(CONTRACTS, asked, self.plan.limits, strict=True):
                chosen = curriculum.measured(contract, split, count, self.plan.seed)
                how = Sampling(contract, 1, self.plan.seed + 1, limit, batch=self.plan.batch)
                out = self.out / "measured" / f"{stage}-{contract}-{split}.jsonl"
                samples = draw(model, vocabulary, chosen, how, out)
                found[f"{stage}, {contract}"] = measuring.figures(samples)
                training = [s for s in drawn if s.contract == contract]
                if stage == FINAL and training:
                    by_cell = measuring.lookup(training, samples)
                    found[f"lookup table, {contract}"] = measuring.figures(samples, by_cell)
                    found[f"{stage}, {contract}"][measuring.LEAD] = measuring.lead(samples, by_cell)
                    found[f"critic, {contract}"] = measuring.figures(samples, self._judged(model, vocabulary, samples))
                if contract == "claims":
                    found[f"{stage}, single claims"] = measuring.claim_figures(samples)
                    found[f"{stage}, single claims"]["reasons"] = asdict(measuring.doubt(samples))
        (self.out / f"table-{split}.json").write_text(json.dumps(found, indent=2) + "\n")
        return measuring.markdown(found)

    def _draw(
        self,
        model: Llama,
        vocabulary: Vocabulary,
        name: str,
        counts: tuple[int, int],
        *,
        seed: int,
        samples: int = 1,
    ) -> list[Sample]:
        """Sample `counts` training problems that are never shown under each contract."""
        drawn = list[Sample]()
        for contract, count, limit in zip(CONTRACTS, counts, self.plan.limits, strict=True):
            if count:
                chosen = curriculum.asked(contract, count, seed)
                how = Sampling(contract, samples, seed, limit, batch=self.plan.batch)
                drawn += draw(model, vocabulary, chosen, how, self.out / "samples" / f"{name}-{contract}.jsonl")
        return drawn

    def _judged(self, model: Llama, vocabulary: Vocabulary, samples: list[Sample]) -> list[float | None]:
        """The critic's confidence in each sample; none where the form was violated."""
        head = self.critic(vocabulary)
        found = critic.values(critic.last_states(model, vocabulary, samples), head["score.weight"], head["score.bias"])
        return [None if s.graded.violation else p for s, p in zip(samples, found, strict=True)]


def count_lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def histogram(drawn: list[Sample]) -> str:
    """Measured chance of each problem that was sampled several times, and the mean of each cell."""
    by_problem = chance_by((f"{s.problem_id:06d}", s.graded.valid) for s in drawn)
    by_cell = chance_by((s.problem.cell, s.graded.valid) for s in drawn)
    cells = "\n".join(f"{cell:20} {chance:.2f}" for cell, chance in by_cell.items())
    return f"{table(difficulty(list(by_problem.values())))}\n\n{cells}\n"
