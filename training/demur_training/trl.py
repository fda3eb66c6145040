"""The rewards for TRL's trainers: a function that GRPOTrainer and its relatives take as `reward_funcs`.

    trainer = GRPOTrainer(model, reward_funcs=reward_function("confidence-brier", end_tokens={2}, ...), ...)

The data set needs a `prompt` (write it with `demur.prompts.messages`) and an `answer` column, which holds an answer or
a list of all that count as right; explicit risk also a `risk_threshold` column.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, cast

from demur.core.equivalence import is_correct
from demur.core.reward_rules import overlong_penalty
from demur_training import recipes
from demur_training.rewards import Grade, check_settings, compute_score

TrlReward = Callable[..., list[float]]


def reward_function(
    recipe: str,
    *,
    end_tokens: Collection[int],
    max_completion_length: int,
    overlong_buffer: int | None = None,
    answer_column: str = "answer",
    grade: Grade = is_correct,
) -> TrlReward:
    """The reward of a recipe in TRL's shape.

    A completion that does not end in one of `end_tokens` was cut off and counts as abstaining; with `overlong_buffer`
    (tokens) long ones are punished as in the paper. Pass a running `demur.grading.Grader`'s `correct` as `grade` to
    compare formulas by value. Raises RecipeError for an unknown recipe.
    """
    settings = recipes.settings_of(recipe)
    check_settings(settings)

    def reward(completions: Sequence[Any], completion_ids: Sequence[Sequence[int]], **columns: Any) -> list[float]:
        answers = columns[answer_column]
        thresholds = columns.get("risk_threshold", [None] * len(answers))
        scores: list[float] = []
        for text, ids, answer, threshold in zip(completions, completion_ids, answers, thresholds, strict=True):
            info = {"truncated": not ids or ids[-1] not in end_tokens, "risk_threshold": threshold}
            scored = compute_score(recipe, _content(text), _ground_truth(answer), info, grade=grade, **settings)
            penalty = overlong_penalty(len(ids), max_completion_length, overlong_buffer) if overlong_buffer else 0.0
            scores.append(scored["score"] + penalty)
        return scores

    reward.__name__ = recipe  # TRL names its log columns by it
    return reward


def _ground_truth(answer: Any) -> str:
    """One accepted answer a line, as the reward takes them; the column holds one answer or a list of them."""
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        return str(answer)
    return "\n".join(str(one) for one in cast("Iterable[Any]", answer))


def _content(completion: Any) -> str:
    """A completion is a text, or one assistant message where the prompts are conversations."""
    return completion if isinstance(completion, str) else completion[-1]["content"]
