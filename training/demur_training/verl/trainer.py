"""verl's synchronous PPO trainer with our figures in its log."""

from pathlib import Path
from typing import Any

import transfer_queue as tq
from tensordict import TensorDict
from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync
from verl.workers.utils.padding import response_to_nested

from demur_training.run import retention
from demur_training.run.alarms import Alarms
from demur_training.run.training_metrics import RunLog, one_line, summarise
from demur_training.verl import decoupled


class CalibrationTrainer(PPOTrainerSync):
    """Logs accuracy, confidence, format and overlong share of every step, the calibration figures of every
    validation, raises alarms, keeps all figures in `metrics.jsonl` of the run's folder, and removes
    checkpoints that are neither new nor the best."""

    def __init__(self, config: Any) -> None:
        self._keep: int | None = config.trainer.max_actor_ckpt_to_keep
        config.trainer.max_actor_ckpt_to_keep = config.trainer.max_critic_ckpt_to_keep = None  # `retention` does it
        super().__init__(config)
        self._alarms = Alarms(config.demur.alarms)
        self._log = RunLog(Path(config.trainer.default_local_dir) / "metrics.jsonl")

    def _init_dataloader(self) -> None:
        super()._init_dataloader()
        passes = self.steps_per_epoch * self.config.trainer.total_epochs
        if passes < self.total_training_steps:  # verl would stop there without a last validation and checkpoint
            print(
                f"this run ends at step {passes}, after trainer.total_epochs={self.config.trainer.total_epochs} passes"
            )
            self.total_training_steps = passes

    def on_train_begin(self) -> None:
        super().on_train_begin()
        self._log.rewind(self.global_steps - 1)

    def _save_checkpoint(self) -> None:
        super()._save_checkpoint()
        retention.prune(Path(self.config.trainer.default_local_dir), self._keep)

    def _compute_advantage(self, batch: Any, metrics: dict[str, Any]) -> Any:
        batch = super()._compute_advantage(batch, metrics)
        return self._decouple(batch) if self.config.demur.advantages == "decoupled" else batch

    def _decouple(self, batch: Any) -> Any:
        """Put advantages of the answer's and the confidence's own in the place of GRPO's."""
        data = tq.kv_batch_get(keys=batch.keys, partition_id=batch.partition_id, select_fields=["response_mask"])
        mask = data["response_mask"]
        by_deviation = self.config.algorithm.norm_adv_by_std_in_grpo
        found = decoupled.advantages(_outputs(batch), mask.to_padded_tensor(0), by_deviation=by_deviation)
        fields = dict.fromkeys(("advantages", "returns"), response_to_nested(found, mask))
        fields = TensorDict(fields, batch_size=len(batch))
        return tq.kv_batch_put(keys=batch.keys, partition_id=batch.partition_id, fields=fields)

    def _compute_metrics(self, batch: Any, metrics: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        super()._compute_metrics(batch, metrics, *args, **kwargs)
        summary = summarise([output for output in _outputs(batch) if output is not None])
        metrics.update({f"calibration/{name}": value for name, value in summary.items()})
        warnings = self._alarms.check(summary)
        metrics["calibration/alarms"] = float(len(warnings))
        self._log.append(self.global_steps, metrics)
        print(one_line(self.global_steps, self.total_training_steps, metrics), flush=True)
        for warning in warnings:
            print(f"WARNING: {warning}", flush=True)

    def _val_metrics_update(
        self,
        data_sources: list[str],
        sample_uids: list[str],
        reward_extra_infos_dict: dict[str, list[Any]],
        sample_turns: list[int],
        expected_acc_counts: dict[tuple[str, str], int] | None = None,
    ) -> dict[str, float]:
        metrics = super()._val_metrics_update(
            data_sources, sample_uids, reward_extra_infos_dict, sample_turns, expected_acc_counts
        )
        names = list(reward_extra_infos_dict)
        rows = [dict(zip(names, row, strict=True)) for row in zip(*reward_extra_infos_dict.values(), strict=True)]
        for source in sorted(set(data_sources)):
            mine = (row for row, origin in zip(rows, data_sources, strict=True) if origin == source)
            summary = summarise([row for row in mine if row.get("valid") is not None], calibration=True)
            metrics.update({f"val-calibration/{source}/{name}": value for name, value in summary.items()})
        if self.global_steps == 0:
            self._log.append(0, metrics)
        return metrics


def _outputs(batch: Any) -> list[dict[str, Any] | None]:
    """What the reward manager said of each output of a training batch; None for padding."""
    data = tq.kv_batch_get(keys=batch.keys, partition_id=batch.partition_id, select_fields=["extra_fields"])
    rows = zip(batch.keys, data.pop("extra_fields").tolist(), batch.tags, strict=True)
    return [
        None if tag.get("is_padding", False) else {**extra["reward_extra_info"], "question": _question(key)}
        for key, extra, tag in rows
    ]


def _question(key: str) -> str:
    """Of verl's key of an output: the id of the question, the number of the sample, the number of the turn."""
    return key.split("_", 1)[0]
