"""The expected confidence reward: summed over all confidences that the model could state, in place of the one that it
sampled. Ours, not the paper's.

A stated confidence is a few tokens at the end of an output. For an output whose answer is fixed, the score is expected
over every ending from 0.00 to 1.00, end token included, and that expectation is differentiated. What probability the
model gives to no such ending counts as a violation, so the same expression holds up the format. The words before the
confidence are sampled as ever, and get the policy gradient of that expected score, with the other samples of the
question as baseline. Together they are the gradient of the expected reward with the noise of the confidence taken out.

ConfTuner's tokenised Brier score (arXiv:2508.18847) is the case of one token a confidence, Brier's rule and answers
given beforehand. Here a confidence may be any sequence of tokens, scored by any rule, and the answer is sampled and
learns too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from demur_training.confidence_label import LABEL

CONFIDENCES = tuple(f"{i / 100:.2f}" for i in range(101))


@dataclass(slots=True)
class Endings:
    """Every ending as a path in a tree of tokens, so that beginnings in common are evaluated once.

    Node i is token `token[i]` after node `parent[i]`, -1 standing for the label. `leaf[k]` is the end token of the
    ending that states `value[k]`, in [0, 1].
    """

    token: list[int] = field(default_factory=list[int])
    parent: list[int] = field(default_factory=list[int])
    leaf: list[int] = field(default_factory=list[int])
    value: list[float] = field(default_factory=list[float])

    @classmethod
    def of(cls, encode: Callable[[str], Sequence[int]], end: int) -> "Endings":
        """The tree for one tokenizer; `encode` gives the token ids of a text, and adds none of its own."""
        tree = cls()
        nodes: dict[tuple[int, int], int] = {}
        label = list(encode(LABEL))
        for text in CONFIDENCES:
            at = -1
            for token in (*list(encode(f"{LABEL} {text}"))[len(label) :], end):
                child = nodes.setdefault((at, token), len(nodes))
                if child == len(tree.token):
                    tree.token.append(token)
                    tree.parent.append(at)
                at = child
            tree.leaf.append(at)
            tree.value.append(float(text))
        return tree

    def inner(self) -> list[int]:
        """The nodes that something follows: the ones a model has to see."""
        return sorted(set(self.parent) - {-1})

    def depth(self, node: int) -> int:
        """Tokens between the label and a node, 0 for the first."""
        return 0 if self.parent[node] < 0 else self.depth(self.parent[node]) + 1

    def path(self, node: int) -> list[int]:
        """The nodes from the label to a node, itself included."""
        return [*(self.path(self.parent[node]) if self.parent[node] >= 0 else []), node]


def log_probs(model: Any, context: Tensor, endings: Endings) -> tuple[Tensor, Tensor]:
    """Log-probabilities of every ending after `context` (tokens,), and of each context token after those before it.

    Returns (endings,) and (tokens - 1,), differentiable. The context is one forward pass, the tree a second over its
    cache, in which a node sees the context and its own path.
    """
    first = model(input_ids=context[None], use_cache=True)
    spoken = first.logits[0].float().log_softmax(-1)
    inner = endings.inner()
    tree = model(
        input_ids=torch.tensor([[endings.token[node] for node in inner]], device=context.device),
        position_ids=torch.tensor([[len(context) + endings.depth(node) for node in inner]], device=context.device),
        attention_mask=_tree_mask(endings, inner, len(context), model.dtype).to(context.device),
        past_key_values=first.past_key_values,
        use_cache=True,
    )
    after = torch.cat([spoken[-1:], tree.logits[0].float().log_softmax(-1)])
    row = {node: i + 1 for i, node in enumerate(inner)} | {-1: 0}
    edge = after[[row[parent] for parent in endings.parent], endings.token]
    paths = torch.zeros(len(endings.leaf), len(endings.token), device=context.device)
    for k, leaf in enumerate(endings.leaf):
        paths[k, endings.path(leaf)] = 1
    return paths @ edge, spoken[torch.arange(len(context) - 1), context[1:]]


def expected_score(log_probs: Tensor, scores: Tensor, violation: float) -> Tensor:
    """The mean of `scores` under `log_probs`, both (endings,), and of `violation` for the probability left over."""
    return (log_probs.exp() * (scores - violation)).sum() + violation


def advantages(scores: Sequence[float]) -> list[float]:
    """Each score less the mean of the others: one question's samples against each other. 0 for a single sample."""
    total, others = sum(scores), len(scores) - 1
    return [score - (total - score) / others if others else 0.0 for score in scores]


def _tree_mask(endings: Endings, inner: list[int], context: int, dtype: torch.dtype) -> Tensor:
    """What to add to attention scores, (1, 1, nodes, context + nodes): 0 where a node looks, -inf elsewhere."""
    column = {node: context + i for i, node in enumerate(inner)}
    mask = torch.full((len(inner), context + len(inner)), torch.finfo(dtype).min, dtype=dtype)
    mask[:, :context] = 0
    for i, node in enumerate(inner):
        mask[i, [column[seen] for seen in endings.path(node)]] = 0
    return mask[None, None]
