"""End-to-end smoke test at toy size, on a CPU or a GPU: PPO killed and resumed, a critic, export, serving, evaluation.

Every stage is a command a user would give; this only gives them one after the other and looks at what came out.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from demur_training import recipes
from demur_training.data import preparation
from demur_training.data.rows import read_rows
from demur_training.run import rehearsal
from demur_training.run.rehearsal import Rehearsal
from demur_training.run.training_metrics import read_log
from demur_training.smoke import toy_task
from demur_training.smoke.critic_position_study import CriticPositions, study

KILLED = -signal.SIGKILL
ADDRESS = re.compile(r"demur answers on (\S+)")
CLEARLY = 2.5
"""Standard deviations of the test's statistic where there is no trend."""
REWARD, CRITIC_LOSS = "critic/score/mean", "critic/vf_loss"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Steps of the run and of the critic's, questions, and where the run is killed: between two checkpoints."""

    steps: int = 36
    save_every: int = 10
    killed_at: int = 14
    critic_steps: int = 20
    train: int = 4096
    test: int = 400
    loaded: int = 2000


@dataclass(frozen=True, slots=True)
class Change:
    """What a figure did from the first to the last quarter of the steps, and the `z` of its trend over all of them."""

    first: float
    last: float
    z: float

    @property
    def rose(self) -> bool:
        """What counts as having learned, for a reward."""
        return self.z > CLEARLY

    @property
    def fell(self) -> bool:
        """What counts as having learned, for a loss."""
        return self.z < -CLEARLY


@dataclass(frozen=True, slots=True)
class EndToEndSmoke:
    """The stages, each in its own folder under `folder`. Raises RuntimeError when a command fails."""

    folder: Path
    sizes: Sizes = Sizes()
    scale: str = "cpu-smoke"
    serving_python: str = sys.executable
    """The interpreter of an environment that can serve. Training on GPUs pins another vLLM than serving does."""
    overrides: tuple[str, ...] = ()
    """verl's keys, for every run: another attention kernel, say."""

    @property
    def longest_output(self) -> int:
        """The limit of an output at this scale, in tokens."""
        return recipes.compose("confidence-brier", self.scale).data.max_response_length

    def prepare(self) -> None:
        """The base model, which is far too sure of itself, and the questions."""
        toy_task.write_model(self.folder / "base")
        for draw, (split, count) in enumerate({"train": self.sizes.train, "val": 200, "test": self.sizes.test}.items()):
            toy_task.write_questions(self.folder / f"{split}.jsonl", count, seed=draw + 1)
        train, val = (read_rows(str(self.folder / f"{split}.jsonl")) for split in ("train", "val"))
        settings = preparation.DataSettings("response", "general")
        preparation.write(train, "dice", settings, self.folder / "data", validation=val)
        toy_task.write_questions(self.folder / "loaded.jsonl", self.sizes.loaded, seed=4, loaded=True)
        preparation.write(read_rows(str(self.folder / "loaded.jsonl")), "loaded", settings, self.folder / "loaded")

    def rehearse(self) -> Rehearsal:
        """The longest step that `train` can have."""
        follow(self._command("rehearse", "confidence-brier", "base", "brier"), self.folder / "rehearsal.log")
        row = read_log(self.folder / "brier" / rehearsal.FOLDER / "metrics.jsonl")[-1]
        questions = recipes.compose("confidence-brier", self.scale).data.train_batch_size
        return Rehearsal(questions, row["timing_s/step"], row["response_length/max"], None, self.sizes.steps)

    def train(self, *overrides: str) -> Change:
        """PPO with the Brier reward: killed once with -9, then the same command again. How the mean reward moved."""
        arguments = self._run("confidence-brier", "base", "brier", self.sizes.steps, *overrides)
        follow(arguments, self.folder / "brier.log", kill_at=f"step {self.sizes.killed_at}/")
        follow(arguments, self.folder / "brier.log")
        self._export("brier", "model")
        return self.change("brier", REWARD)

    def attempt(self, recipe: str, name: str, *overrides: str) -> Change:
        """Any recipe on the toy task, without a kill. How the mean reward moved."""
        follow(self._run(recipe, "base", name, self.sizes.steps, *overrides), self.folder / f"{name}.log")
        return self.change(name, REWARD)

    def train_critic(self) -> Change:
        """A critic whose value is the chance of being right: `ppo-value` with the actor left as it is, on loaded dice,
        so that it has to read the answer. How the critic's loss moved.

        The actor is the base model, which names all sides alike. PPO lets a model drift to any of them, since none
        earns more, and of one that nearly always says 1 there is little to learn.
        """
        steps = self.sizes.critic_steps
        still = f"trainer.critic_warmup={steps + 1}"
        follow(self._run("ppo-value", "base", "value", steps, still, questions="loaded"), self.folder / "value.log")
        self._export("value", "base-with-critic")
        return self.change("value", CRITIC_LOSS)

    def evaluate(self, model: str) -> dict[str, Any]:
        """Serve a model of this folder and evaluate it over HTTP on the test questions; `demur evaluate`'s figures."""
        out = self.folder / f"evaluation-{model}"
        with serving(self.folder / model, self.folder / "serve.log", self.serving_python) as url:
            options = ["--base-url", url, "--out", str(out), "--domain", "general", "--concurrency", "32"]
            evaluate = [self.serving_python, "-m", "demur", "evaluate", str(self.folder / "test.jsonl"), *options]
            follow(evaluate, self.folder / "evaluate.log")
        return json.loads((out / "metrics.json").read_text())["response"]

    def study_critic_position(self) -> CriticPositions:
        """Compare the trained critic's value before the last token with the one at that token."""
        return study(self.folder / "base-with-critic", self.folder / "loaded" / "val.parquet", scale=self.scale)

    def steps_logged(self, run: str) -> list[int]:
        """The steps in a run's log, in its order."""
        return [int(row["step"]) for row in read_log(self.folder / run / "metrics.jsonl")]

    def change(self, run: str, figure: str) -> Change:
        """How a logged figure moved over a run."""
        return change([row[figure] for row in read_log(self.folder / run / "metrics.jsonl") if figure in row])

    def _run(
        self, recipe: str, model: str, out: str, steps: int, *overrides: str, questions: str = "data"
    ) -> list[str]:
        settings = [f"trainer.total_training_steps={steps}", f"trainer.save_freq={self.sizes.save_every}", *overrides]
        return self._command("run", recipe, model, out, *settings, "trainer.test_freq=-1", questions=questions)

    def _command(
        self, command: str, recipe: str, model: str, out: str, *overrides: str, questions: str = "data"
    ) -> list[str]:
        paths = {"--model": model, "--data": questions, "--out": out}
        options = [word for key, name in paths.items() for word in (key, str(self.folder / name))]
        return _demur_train(command, recipe, *self.overrides, *overrides, "--scale", self.scale, *options)

    def _export(self, run: str, model: str) -> None:
        arguments = _demur_train("export", str(self.folder / run), str(self.folder / model), "--name", f"dice-{run}")
        follow(arguments, self.folder / "export.log")


def change(values: Sequence[float]) -> Change:
    """The means of the first and the last quarter of a series, and the z of the Mann-Kendall test for a trend.

    That test counts pairs of steps of which the later is higher, less those of which it is lower. So a step in which a
    policy loses the form of its answers, as happens to one, weighs as much as any other. Source: Mann (1945),
    "Nonparametric tests against trend".
    """
    n, quarter = len(values), len(values) // 4
    pairs = sum((later > earlier) - (later < earlier) for earlier, later in combinations(values, 2))
    spread = (n * (n - 1) * (2 * n + 5) / 18) ** 0.5
    return Change(fmean(values[:quarter]), fmean(values[-quarter:]), pairs / spread)


def follow(arguments: Sequence[str], log: Path, *, kill_at: str | None = None) -> None:
    """Run a command, its output going to `log`; with `kill_at`, kill -9 all of it on the first line that holds that.

    Raises RuntimeError with the end of the log when the command fails, or ends before it was to be killed.
    """
    with log.open("ab") as sink, _started(arguments) as process:
        for line in process.stdout or ():
            sink.write(line)
            if kill_at is not None and kill_at.encode() in line:
                os.killpg(process.pid, signal.SIGKILL)
                break
    if process.returncode != (0 if kill_at is None else KILLED):
        raise RuntimeError(f"{' '.join(arguments)} ended with {process.returncode}; {log} ends with:\n{_end_of(log)}")


@contextmanager
def serving(model: Path, log: Path, python: str = sys.executable) -> Iterator[str]:
    """`demur serve` with a tiny model on a free port, asked as it was trained; the address once it answers."""
    asked = ["--prompt-wording", "trained", "--force-contract", "never"]  # the base is no model that its manifest names
    options = ["--port", "0", *asked, "--", "--max-model-len", "384"]
    arguments = [python, "-m", "demur", "serve", "--model", str(model), *options]
    with log.open("ab") as errors, _started(arguments, errors) as process:
        address = next((found[1] for line in process.stdout or () if (found := ADDRESS.search(line.decode()))), None)
        if address is None:
            raise RuntimeError(f"{' '.join(arguments)} does not answer; {log} ends with:\n{_end_of(log)}")
        try:
            yield address
        finally:
            process.terminate()


def _started(arguments: Sequence[str], errors: Any = subprocess.STDOUT) -> subprocess.Popen[bytes]:
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=errors, start_new_session=True)


def _demur_train(*words: str) -> list[str]:
    return [sys.executable, "-m", "demur_training", *words]


def _end_of(log: Path) -> str:
    return log.read_bytes()[-3000:].decode(errors="replace")
