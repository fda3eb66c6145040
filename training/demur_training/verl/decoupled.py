"""Separate advantages for the answer and for the stated confidence, after DCPO (arXiv:2603.09117).

A score of a stated confidence is what the answer earned, 1 or 0, less what the confidence lost: Brier's is
v - (p - v)², the log score's falls short of v by its own loss. Each part is compared within the samples of a question,
as GRPO (arXiv:2402.03300, section 4.1) compares the whole, and reaches only the tokens that it is about. So a right
answer is never discouraged for a doubtful confidence, and confidences are learnt from where all samples are right.

It differs from that paper in what a confidence is compared with: its own outcome, which keeps the score proper, and not
a mean of that and of the question's share of right samples.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

EPSILON = 1e-6
"""As in verl's GRPO."""


def advantages(outputs: Sequence[Mapping[str, Any] | None], mask: Tensor, *, by_deviation: bool = True) -> Tensor:
    """The advantage of each token, (outputs, tokens), float32; 0 where `mask`, of the same shape, is.

    `outputs` is what the reward manager noted: `question`, `score`, `valid`, `overlong_penalty`, and in
    `confidence_start` how many tokens come before the confidence, None where none could be read. Such an output earns
    its whole reward with all its tokens. None stands for padding. `by_deviation` divides by the standard deviation of a
    group.
    """
    answer = torch.zeros(len(outputs), dtype=torch.float64)
    confidence, start = answer.clone(), torch.full((len(outputs),), mask.shape[1])
    questions: list[Hashable] = [None if output is None else output["question"] for output in outputs]
    stated: list[int] = []
    for i, output in enumerate(outputs):
        if output is None:
            continue
        answer[i] = output["score"] + output["overlong_penalty"]
        if output["confidence_start"] is not None:
            stated.append(i)
            start[i] = output["confidence_start"]
            confidence[i] = output["score"] - output["valid"]
            answer[i] -= confidence[i]
    real = [i for i, output in enumerate(outputs) if output is not None]
    for part, rows in ((answer, real), (confidence, stated)):
        part[rows] = compared(part[rows], [questions[i] for i in rows], by_deviation)
    before = torch.arange(mask.shape[1]) < start[:, None]
    return (torch.where(before, answer[:, None], confidence[:, None]) * mask).float()


def compared(values: Tensor, groups: Sequence[Hashable], by_deviation: bool) -> Tensor:
    """Each value less the mean of its group, in standard deviations of the group; 0 for a group of one."""
    result, members = torch.zeros_like(values), defaultdict[Hashable, list[int]](list)
    for row, group in enumerate(groups):
        members[group].append(row)
    for rows in members.values():
        if len(rows) > 1:
            apart = values[rows] - values[rows].mean()
            result[rows] = apart / (values[rows].std() + EPSILON) if by_deviation else apart
    return result
