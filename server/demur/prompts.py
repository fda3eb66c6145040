"""The only place where a prompt is built: serving, training and evaluation ask here.

The instructions go around the last user message and nowhere else, so a conversation reads to the model as it did in
training. What a user writes is never parsed: a question that imitates the contract changes nothing.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

from demur.core.answers import Contract
from demur.engine.base import Message

Domain = Literal["maths", "general"]

_TASK: Mapping[Domain, str] = {
    "maths": "Solve the maths problem at the end step by step.",
    "general": "Answer the question at the end.",
}

# The instructions come first and the question last, so that all prompts of one contract share a long beginning: the
# engine's prefix cache and packed training pay for it once.
_RESPONSE = """{task} Always give your best answer. Finish with exactly two lines:
Answer: your answer
Confidence: the chance that it is right, from 0 to 1

{question}"""

_CLAIMS = """{task} First work it out in private. Then write "Solution:" and each step in a tag, with the chance from \
0 to 1 that the step is right and what could be wrong with it:
Solution:
<Confidence value=0.97 text="small sum">3 + 4 = 7</Confidence>
<Confidence value=0.6 text="the carry in 7 * 86">7 * 86 = 602</Confidence>
Answer:602
The last line is "Answer:" and the final answer.

{question}"""

_EXPLICIT_RISK = """{task} Give an answer only if the chance that it is right is above {percent} percent. A right \
answer earns 1 point, a wrong one {penalty}, and <IDK> earns 0. Finish with one line:
Answer: your answer, or <IDK>

{question}"""

_TEMPLATES: Mapping[Contract, str] = {"response": _RESPONSE, "claims": _CLAIMS, "explicit_risk": _EXPLICIT_RISK}


def wrap(question: str, contract: Contract, *, domain: Domain = "general", risk_threshold: float | None = None) -> str:
    """The user message that asks `question` under `contract`.

    `explicit_risk` states the threshold t and the penalty t/(1-t) (paper section 3.2.1) and needs
    `risk_threshold` in [0, 1]. Raises ValueError when it is absent.
    """
    fields = {"task": _TASK[domain], "question": question}
    if contract == "explicit_risk":
        if risk_threshold is None:
            raise ValueError("the explicit_risk contract states the risk threshold in its prompt: give one")
        fields |= {"percent": f"{100 * risk_threshold:.4g}", "penalty": _penalty(risk_threshold)}
    return _TEMPLATES[contract].format_map(fields)


def messages(
    question: str | Sequence[Message],
    contract: Contract,
    *,
    domain: Domain = "general",
    risk_threshold: float | None = None,
) -> list[Message]:
    """Chat messages for one question or one conversation; its last message has to be the user's.

    Raises ValueError when a conversation is empty or does not end with a user message.
    """
    turns = [Message(role="user", content=question)] if isinstance(question, str) else list(question)
    if not turns or turns[-1]["role"] != "user":
        raise ValueError("the last message has to be the user's: the contract is put around it")
    asked = wrap(turns[-1]["content"], contract, domain=domain, risk_threshold=risk_threshold)
    return [*turns[:-1], Message(role="user", content=asked)]


def prompt_hash(contract: Contract, domain: Domain = "general") -> str:
    """Twelve hex digits that change when the wording does: for run manifests and model cards."""
    return hashlib.sha256((_TASK[domain] + "\0" + _TEMPLATES[contract]).encode()).hexdigest()[:12]


def _penalty(t: float) -> str:
    """What a wrong answer costs at threshold t, as written in the prompt."""
    return "costs everything" if t >= 1 else f"costs {t / (1 - t):.2f} points"
