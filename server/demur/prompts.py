"""The only place where a prompt is built: serving, training and evaluation ask here.

The instructions go around the last user message and nowhere else, so a conversation reads to the model as it did in
training. What a user writes is never parsed: a question that imitates the contract changes nothing. The instructions
come first and the question last, so that all prompts of one contract share a long beginning: the engine's prefix cache
and packed training pay for it once.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from demur.core.answers import ContractName
from demur.core.contracts import ALL_CONTRACTS
from demur.engine.base import Message

Domain = Literal["maths", "general"]
Wording = Literal["trained", "untrained"]
"""The one that models are trained with, which never changes, or the longer one for models that were not."""

_TASK: Mapping[Domain, str] = {
    "maths": "Solve the maths problem at the end step by step.",
    "general": "Answer the question at the end.",
}

_BARE = "Reason step by step if that helps, and finish with the answer alone in \\boxed{}."

IS_IT_RIGHT = "Check the answer you have just given. Is it right? Reply with one word, yes or no."
"""The further turn of P(True). Changing it makes other numbers: a calibrator is for one wording."""


def template_of(contract: ContractName, *, trained: bool = True) -> str:
    """The wording under a contract: the one that models are trained with, or the one for a model that was not."""
    described = ALL_CONTRACTS[contract]
    return described.template if trained else described.untrained_template or described.template


def wrap(
    question: str,
    contract: ContractName,
    *,
    domain: Domain = "general",
    risk_threshold: float | None = None,
    trained: bool = True,
    schema: Mapping[str, Any] | None = None,
) -> str:
    """The user message that asks `question` under a contract, one of `ALL_CONTRACTS`.

    Some contracts state the risk threshold t in [0, 1] and the penalty t/(1-t) (arXiv:2512.19920, section 3.2.1).
    Raises ValueError when such a contract gets no `risk_threshold`, or one that takes a JSON Schema no `schema`.
    """
    described = ALL_CONTRACTS[contract]
    fields = {"task": _TASK[domain], "question": question}
    if described.states_threshold:
        if risk_threshold is None:
            raise ValueError(f"the {contract} contract states the risk threshold in its prompt: give one")
        fields |= {"percent": f"{100 * risk_threshold:.4g}", "penalty": _penalty(risk_threshold)}
    if described.takes_schema:
        if schema is None:
            raise ValueError(f"the {contract} contract shows the model a schema: give one")
        fields["schema"] = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return template_of(contract, trained=trained).format_map(fields)


def bare(question: str) -> list[Message]:
    """Chat messages that ask for an answer in `\\boxed{}` and for nothing else: what a contract is measured against."""
    return [Message(role="user", content=f"{question}\n\n{_BARE}")]


def messages(
    question: str | Sequence[Message],
    contract: ContractName,
    *,
    domain: Domain = "general",
    risk_threshold: float | None = None,
    trained: bool = True,
    schema: Mapping[str, Any] | None = None,
) -> list[Message]:
    """Chat messages for one question or one conversation; its last message has to be the user's.

    Raises ValueError when a conversation is empty or does not end with a user message.
    """
    turns = [Message(role="user", content=question)] if isinstance(question, str) else list(question)
    if not turns or turns[-1]["role"] != "user":
        raise ValueError("the last message has to be the user's: the contract is put around it")
    fields: dict[str, Any] = {"domain": domain, "risk_threshold": risk_threshold, "trained": trained, "schema": schema}
    asked = wrap(turns[-1]["content"], contract, **fields)
    return [*turns[:-1], Message(role="user", content=asked)]


def ask_if_right(turns: Sequence[Message], output: str) -> list[Message]:
    """The conversation gone on with: the model's own output, and the question whether its answer is right.

    What was said before stays as it was, so that a prefix cache has it.
    """
    return [*turns, Message(role="assistant", content=output), Message(role="user", content=IS_IT_RIGHT)]


def asks_if_right(turns: Sequence[Message]) -> bool:
    """Whether these are such a conversation."""
    return len(turns) > 2 and turns[-2]["role"] == "assistant" and turns[-1]["content"] == IS_IT_RIGHT


def prompt_hash(contract: ContractName, domain: Domain = "general", *, trained: bool = True) -> str:
    """Twelve hex digits that change when the wording does: for run manifests and model cards."""
    template = template_of(contract, trained=trained)
    return hashlib.sha256((_TASK[domain] + "\0" + template).encode()).hexdigest()[:12]


def question_hash() -> str:
    """Twelve hex digits that change when the wording of `ask_if_right` does."""
    return hashlib.sha256(IS_IT_RIGHT.encode()).hexdigest()[:12]


def _penalty(t: float) -> str:
    """What a wrong answer costs at threshold t, as written in the prompt."""
    return "costs everything" if t >= 1 else f"costs {t / (1 - t):.2f} points"
