"""Separate advantages for the tokens of an answer and of a confidence."""

from pathlib import Path
from typing import Any

import pytest
import torch

from demur.core.reward_rules import brier
from demur_training.verl import decoupled
from demur_training.verl.decoupled import advantages

LONGEST, START = 6, 4


def output(question: str, confidence: float | None, valid: bool, **more: Any) -> dict[str, Any]:
    """What the reward manager notes under the Brier rule; a violation where no confidence is stated."""
    score = -1.0 if confidence is None else brier(confidence, valid)
    start = None if confidence is None else START
    noted = {"question": question, "score": score, "valid": float(valid), "overlong_penalty": 0.0}
    return {**noted, "confidence_start": start, **more}


def parts(outputs: list[dict[str, Any] | None], **options: bool) -> list[tuple[float, float]]:
    """The advantage of each output's first and of its last token."""
    found = advantages(outputs, torch.ones(len(outputs), LONGEST, dtype=torch.long), **options)
    assert found.shape == (len(outputs), LONGEST)
    for row, one in zip(found, outputs, strict=True):
        start = LONGEST if one is None or one["confidence_start"] is None else one["confidence_start"]
        assert row[:start].unique().numel() == 1
        assert row[start:].unique().numel() <= 1
    return [(float(row[0]), float(row[-1])) for row in found]


def test_the_answer_is_compared_by_outcome_and_the_confidence_by_what_it_lost() -> None:
    found = parts([output("a", 0.9, True), output("a", 0.4, True), output("a", 0.4, False)], by_deviation=False)
    lost = [-0.01, -0.36, -0.16]
    mean = sum(lost) / 3
    for (answer, confidence), valid, loss in zip(found, (1, 1, 0), lost, strict=True):
        assert answer == pytest.approx(valid - 2 / 3)
        assert confidence == pytest.approx(loss - mean)


def test_a_doubtful_confidence_takes_nothing_from_a_right_answer() -> None:
    (doubtful, _), (sure, _), (wrong, _) = parts(
        [output("a", 0.0, True), output("a", 1.0, True), output("a", 0.0, False)]
    )
    assert doubtful == pytest.approx(sure)
    assert doubtful > 0 > wrong


def test_where_all_answers_are_right_the_confidence_is_learnt_all_the_same() -> None:
    found = parts([output("a", 0.9, True), output("a", 0.5, True)])
    assert [answer for answer, _ in found] == [0.0, 0.0]
    assert found[0][1] == pytest.approx(0.5**0.5, rel=1e-4) == pytest.approx(-found[1][1], rel=1e-4)


def test_an_output_without_a_confidence_earns_its_reward_with_every_token() -> None:
    overlong = {**output("a", None, False), "score": 0.0, "overlong_penalty": -1.0}
    outputs = [output("a", 0.5, True), output("a", 0.5, False), output("a", None, False), overlong]
    found = parts(list(outputs), by_deviation=False)
    mean = (1 + 0 - 1 - 1) / 4
    assert [answer for answer, _ in found] == pytest.approx([1 - mean, -mean, -1 - mean, -1 - mean])
    assert found[2][0] == found[2][1]
    lost = (-0.25, -0.25)
    assert [confidence for _, confidence in found[:2]] == pytest.approx([x - sum(lost) / 2 for x in lost])


def test_the_punishment_for_length_is_the_answers() -> None:
    (long, said), (short, also) = parts([output("a", 0.5, True, overlong_penalty=-0.5), output("a", 0.5, True)])
    assert long < short
    assert said == also == 0.0


def test_questions_are_compared_with_themselves_and_padding_with_nothing() -> None:
    alone = output("b", 0.3, True)
    found = parts([output("a", 0.9, True), None, output("a", 0.9, False), alone], by_deviation=False)
    assert found[1] == (0.0, 0.0)
    assert found[3] == (0.0, 0.0)  # nothing to compare it with
    assert found[0][0] == pytest.approx(0.5) == -found[2][0]


def test_nothing_reaches_masked_tokens() -> None:
    mask = torch.tensor([[1, 1, 1, 1, 1, 0], [1, 1, 0, 0, 0, 0]])
    found = advantages([output("a", 0.9, True), output("a", None, False)], mask)
    assert bool((found[mask == 0] == 0).all())
    assert bool((found[1, :2] != 0).all())


def test_equals_are_told_apart_by_no_rounding() -> None:
    losses = torch.full((7,), -(0.3**2), dtype=torch.float64)
    assert decoupled.compared(losses, ["a"] * 7, True).abs().max() < 1e-6


@pytest.mark.training
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore:.* engine is not available:UserWarning")
def test_verls_trainer_trains_on_them(tiny_model: Path, tmp_path: Path) -> None:
    """Through a real transfer queue: verl computes GRPO's advantages, and ours are what is there afterwards."""
    import ray
    import transfer_queue as tq
    from omegaconf import OmegaConf
    from tensordict import TensorDict

    from demur_training import recipes
    from demur_training.verl.trainer import CalibrationTrainer

    overrides = [f"actor_rollout_ref.model.path={tiny_model}", f"trainer.default_local_dir={tmp_path}"]
    config = recipes.compose("confidence-decoupled", "cpu-smoke", overrides)
    OmegaConf.resolve(config)
    ray.init(num_cpus=4, include_dashboard=False)
    try:
        tq.init(config.transfer_queue)
        outputs = [output("a", 0.9, True), output("a", 0.4, False), output("a", None, False)]
        keys, lengths = [f"a_{i}_0" for i in range(3)], (6, 5, 2)

        def nested(value: float, dtype: Any = torch.float32) -> Any:
            return torch.nested.as_nested_tensor(
                [torch.full((n,), value, dtype=dtype) for n in lengths], layout=torch.jagged
            )

        scores = torch.nested.as_nested_tensor(
            [torch.tensor([0.0] * (n - 1) + [o["score"]]) for n, o in zip(lengths, outputs, strict=True)],
            layout=torch.jagged,
        )
        fields = {"rm_scores": scores, "response_mask": nested(1, torch.long), "rollout_log_probs": nested(-1.0)}
        fields |= {"old_log_probs": nested(-1.0)}
        batch = TensorDict(fields, batch_size=3)
        from verl.utils import tensordict_utils as tu

        tu.assign_non_tensor_stack(batch, "uid", ["a"] * 3)
        tu.assign_non_tensor_stack(batch, "extra_fields", [{"reward_extra_info": one} for one in outputs])
        written = tq.kv_batch_put(keys=keys, partition_id="train", fields=batch, tags=[{}] * 3)
        trainer: Any = CalibrationTrainer(config)  # pyright: ignore[reportAbstractUsage]
        trainer._compute_advantage(written, {})
        found = tq.kv_batch_get(keys=keys, partition_id="train", select_fields=["advantages", "returns"])
        wanted = advantages(outputs, nested(1, torch.long).to_padded_tensor(0))
        for row, expected, n in zip(found["advantages"], wanted, lengths, strict=True):
            assert row.tolist() == pytest.approx(expected[:n].tolist())
    finally:
        tq.close()
        ray.shutdown()
