"""Critic position study: at which token the value says most about success, which is where serving reads it."""

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from demur.grading import Grader
from demur.manifest import Manifest
from demur_training import base_model, recipes
from demur_training.checks import preflight
from demur_training.errors import DataError
from demur_training.exact.sampling import Sampler


@dataclass(frozen=True, slots=True)
class CriticPositions:
    """Brier scores of a critic's value over `answers`: where it is read, before the last token, and at that token.

    The output at the last token is what GAE never trains (arXiv:2512.19920, section 3.2), so its score is whatever
    chance makes it. `constant` is the score of stating the share of right answers each time: reading nothing gives it.
    """

    answers: int
    chosen: float
    last: float
    constant: float


def study(model: Path, questions: Path, *, scale: str = "cpu-smoke", samples: int = 4) -> CriticPositions:
    """Sample answers to each of verl's rows in `questions`, and ask the critic of the exported `model`."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForTokenClassification

    described = Manifest.load(model).critic
    if described is None:
        raise DataError(f"{model} has no critic")
    config = recipes.compose("ppo-value", scale, [f"actor_rollout_ref.model.path={model}"])
    generator = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
    critic = AutoModelForTokenClassification.from_pretrained(model / described.path, dtype=torch.float32).eval()
    torch.manual_seed(0)
    with Grader() as grader, torch.no_grad():
        sampler = Sampler(config, generator, base_model.load_tokenizer(str(model)), grader)
        groups = sampler.draw(preflight.read_rows(str(questions), "questions"), samples, 1.0, 1.0)
        drawn = [sample for group in groups for sample in group]
        values = [critic(torch.tensor([one.prompt + one.response])).logits[0, -2:, 0].tolist() for one in drawn]
    right = [bool(sample.reward["valid"]) for sample in drawn]
    chosen, last = (
        fmean(((described.probability(pair[i]) or 0.0) - valid) ** 2 for pair, valid in zip(values, right, strict=True))
        for i in (0, 1)
    )
    share = fmean(right)
    return CriticPositions(len(drawn), chosen, last, share * (1 - share))
