"""Trains with the exact form (`expected_reward`): one device, one update a step, the recipe's data and reward."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from omegaconf import DictConfig
from torch import Tensor
from tqdm import tqdm

from demur.grading import Grader
from demur_training import base_model, recipes
from demur_training.checks import preflight
from demur_training.exact import expected_reward
from demur_training.exact.expected_reward import Endings
from demur_training.exact.sampling import Sampler, ScoredSample
from demur_training.rewards import REWARD_RULES, Outcome
from demur_training.run import checkpoints, retention, validation_outputs
from demur_training.run.alarms import Alarms
from demur_training.run.training_metrics import RunLog, one_line, summarise
from demur_training.run.validation_outputs import ValidationOutput


class Objective:
    """The loss of one question's samples, accumulated into the gradients sample by sample."""

    def __init__(self, model: Any, endings: Endings, rule: str, estimator: str) -> None:
        self._model, self._endings, self._exact = model, endings, estimator == "exact"
        score = REWARD_RULES[rule]  # type: ignore[index]
        self._violation = score(Outcome(valid=False, confidence=1.0))
        self._scores = {
            valid: torch.tensor([score(Outcome(valid, value)) for value in endings.value], device=model.device)
            for valid in (True, False)
        }

    def backward(self, samples: Sequence[ScoredSample], weight: float) -> None:
        """Add the gradients of minus the expected reward, each sample weighing `weight`."""
        with torch.no_grad():
            scores = [float(self._value(sample)[0]) for sample in samples]
        for sample, advantage in zip(samples, expected_reward.advantages(scores), strict=True):
            value, spoken = self._value(sample)
            (-weight * (value + advantage * spoken)).backward()

    def _value(self, sample: ScoredSample) -> tuple[Tensor, Tensor]:
        """The score of a sample, differentiable where it is an expectation, and the log-probability of its words."""
        if self._exact and sample.label is not None:
            context = torch.tensor(sample.prompt + sample.response[: sample.label], device=self._model.device)
            endings, spoken = expected_reward.log_probs(self._model, context, self._endings)
            scores = self._scores[bool(sample.reward["valid"])]
            value = (
                expected_reward.expected_score(endings, scores, self._violation) + sample.score - sample.reward["score"]
            )
        else:
            ids = torch.tensor(sample.prompt + sample.response, device=self._model.device)
            rows = self._model(input_ids=ids[None]).logits[0].float().log_softmax(-1)
            spoken = rows[:-1].gather(1, ids[1:, None])[:, 0]
            value = torch.zeros((), device=ids.device, requires_grad=True) + sample.score
        return value, spoken[len(sample.prompt) - 1 :].sum()


def train(config: DictConfig) -> None:
    """Run the recipe until its last step, from the last checkpoint if there is one. Blocks."""
    with Grader() as grader:
        loop = Loop(config, grader)
        for step in tqdm(range(loop.step + 1, loop.total + 1), initial=loop.step, total=loop.total, unit="step"):
            loop.advance(step)


class Loop:
    """A run: the model, its optimizer and its place in the data, all of which a checkpoint holds."""

    def __init__(self, config: DictConfig, grader: Grader) -> None:
        self._config, self._run = config, Path(config.trainer.default_local_dir)
        self._train, self._val = (preflight.read_rows(config.data[key][0], key) for key in ("train_files", "val_files"))
        self.total = total_steps(config, len(self._train))
        self._tokenizer = base_model.load_tokenizer(config.actor_rollout_ref.model.path)
        self.step = self._restore()
        self._log, self._alarms = RunLog(self._run / "metrics.jsonl"), Alarms(config.demur.alarms)
        self._log.rewind(self.step)
        endings = Endings.of(self._encode, self._tokenizer.eos_token_id)
        rule = recipes.reward_settings(config)["rule"]
        self._objective = Objective(self._model, endings, rule, config.demur.estimator)
        self._sampler = Sampler(config, self._model, self._tokenizer, grader)

    def advance(self, step: int) -> None:
        """Sample, update, and where they are due validate and save."""
        rollout, trainer = self._config.actor_rollout_ref.rollout, self._config.trainer
        groups = self._sampler.draw(self._batch(step), rollout.n, rollout.temperature, rollout.top_p)
        norm = self._update(groups, step)
        outputs = [{**sample.reward, "question": i} for i, group in enumerate(groups) for sample in group]
        summary = summarise(outputs)
        mean = sum(sample.score for group in groups for sample in group) / len(outputs)
        figures = {"critic/score/mean": mean, "actor/grad_norm": norm}
        figures |= {f"calibration/{name}": value for name, value in summary.items()}
        if due(step, trainer.test_freq, self.total):
            figures |= self._validate(step)
        warnings = self._alarms.check(summary)
        figures["calibration/alarms"] = float(len(warnings))
        self._log.append(step, figures)
        tqdm.write(one_line(step, self.total, figures))
        for warning in warnings:
            tqdm.write(f"WARNING: {warning}")
        if due(step, trainer.save_freq, self.total):
            self._save(step)

    def _update(self, groups: Sequence[Sequence[ScoredSample]], step: int) -> float:
        """One optimizer step; returns the norm of the gradient before it was clipped."""
        actor = self._config.actor_rollout_ref.actor
        samples = sum(map(len, groups))
        for group in groups:
            self._objective.backward(group, 1 / samples)
        for parameters in self._optimizer.param_groups:
            parameters["lr"] = actor.optim.lr * min(1.0, step / max(1, actor.optim.lr_warmup_steps))
        norm = torch.nn.utils.clip_grad_norm_(self._model.parameters(), actor.optim.clip_grad)
        self._optimizer.step()
        self._optimizer.zero_grad()
        return float(norm)

    def _batch(self, step: int) -> list[dict[str, Any]]:
        """The questions of one step: every epoch in an order of its own."""
        size = self._config.data.train_batch_size
        epoch, place = divmod(step - 1, len(self._train) // size)
        order = random.Random(f"{self._config.data.seed}/{epoch}").sample(range(len(self._train)), len(self._train))
        return [self._train[i] for i in order[place * size : (place + 1) * size]]

    def _validate(self, step: int) -> dict[str, float]:
        how = self._config.actor_rollout_ref.rollout.val_kwargs
        groups = self._sampler.draw(self._val, 1, how.temperature, how.top_p)
        summary = summarise([group[0].reward for group in groups], calibration=True)
        drawn = [group[0] for group in groups]
        validation_outputs.write(self._run, step, map(self._validation_output, self._val, drawn))
        source = self._val[0]["data_source"]
        reward = sum(group[0].score for group in groups) / len(groups)
        figures = {f"val-calibration/{source}/{name}": value for name, value in summary.items()}
        return {retention.REWARD.format(source=source): reward, **figures}

    def _validation_output(self, row: dict[str, Any], sample: ScoredSample) -> ValidationOutput:
        truth, reward = row["reward_model"]["ground_truth"], sample.reward
        prompt, output = (self._tokenizer.decode(ids) for ids in (sample.prompt, sample.response))
        return ValidationOutput(prompt, output, truth, sample.score, bool(reward["valid"]), reward["confidence"])

    def _restore(self) -> int:
        """Load the newest checkpoint, or the base model; returns the steps done."""
        from transformers import AutoModelForCausalLM

        config = self._config
        newest = checkpoints.latest(self._run) if config.trainer.resume_mode == "auto" else None
        path = newest / checkpoints.PLAIN if newest else config.actor_rollout_ref.model.path
        model: Any = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
        self._model = model.to(torch.device(config.trainer.device))
        optim = config.actor_rollout_ref.actor.optim
        settings = {"lr": optim.lr, "betas": tuple(optim.betas), "weight_decay": optim.weight_decay}
        self._optimizer = torch.optim.AdamW(self._model.parameters(), **settings)
        torch.manual_seed(config.data.seed)
        if newest is None:
            return 0
        state = torch.load(newest / checkpoints.PLAIN_STATE, weights_only=True)
        self._optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["rng"])
        return state["step"]

    def _save(self, step: int) -> None:
        folder = self._run / f"global_step_{step}"
        self._model.save_pretrained(folder / checkpoints.PLAIN)
        self._tokenizer.save_pretrained(folder / checkpoints.PLAIN)
        state = {"step": step, "optimizer": self._optimizer.state_dict(), "rng": torch.get_rng_state()}
        torch.save(state, folder / checkpoints.PLAIN_STATE)
        retention.prune(self._run, self._config.trainer.max_actor_ckpt_to_keep)

    def _encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False)


def due(step: int, every: int, total: int) -> bool:
    """Whether something done every so many steps, and at the end, is due; never when `every` is not positive."""
    return every > 0 and (step == total or step % every == 0)


def total_steps(config: DictConfig, rows: int) -> int:
    """As many as asked for, or as `trainer.total_epochs` passes over the questions take, whichever is less."""
    passes = rows // config.data.train_batch_size * config.trainer.total_epochs
    return min(config.trainer.total_training_steps or passes, passes)
