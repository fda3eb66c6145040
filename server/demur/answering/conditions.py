"""What a request's answers are drawn under: what a calibrator is matched by."""

import hashlib
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from demur.answering.resolved_request import ResolvedRequest
from demur.core.parsing.labels import LABELS, Labels
from demur.engine.base import Message, Sampling
from demur.prompts import Domain, prompt_hash, question_hash

UNCHANGING = frozenset({"seed", "constraint", "logprobs"})
"""Fields of `Sampling` that do not change what kind of answers are drawn, or stand here in another form."""
HANDLED = frozenset(
    {"messages", "field", "contract", "granularity", "risk_threshold", "aggregation", "confidence_source", "signals"}
    | {"labels", "samples", "selection", "stopping", "error_budget", "sampling", "max_tokens_asked", "timeout"}
    | {"trained_wording", "shows_logprobs", "calibration", "guarantee", "notice", "conditions"}
)
"""Fields of a request that stand here in another form, or change nothing; nor do those that only show more."""


def conditions_of(request: ResolvedRequest, domain: Domain) -> dict[str, Any]:
    """Everything besides the question that decides what answers look like, by name; texts as hashes.

    What has no effect on this request is None, so that it cannot tell two requests apart. Fields that are added to
    `Sampling` or to requests count by themselves: a calibrator that says nothing of them does not fit.
    """
    several, sampling = request.samples > 1, request.sampling
    drawn = {one.name: getattr(sampling, one.name) for one in fields(Sampling) if one.name not in UNCHANGING}
    return {
        "contract": request.contract.name,
        "prompt": prompt_hash(request.contract.name, domain, trained=request.trained_wording),
        "granularity": request.granularity,
        "aggregation": request.aggregation if request.claims_decide and request.granularity == "response" else None,
        "source": request.confidence_source,
        "samples": request.samples,
        "selection": request.selection if several else None,
        "stopping": request.stopping if several else None,
        "error_budget": request.error_budget if several and request.stopping == "confident" else None,
        **{name: _plain(value) for name, value in (drawn | _others(request)).items()},
        "forced": None if sampling.constraint is None else _hash(sampling.constraint),
        "system": _system(request.messages),
        "turns": "several" if any(message["role"] == "assistant" for message in request.messages) else "one",
        "labels": _labels(request.labels),
        **({"p_true_question": question_hash()} if "p_true" in request.signals.names else {}),
    }


def _others(request: ResolvedRequest) -> dict[str, Any]:
    names = [one.name for one in fields(ResolvedRequest) if one.name not in HANDLED]
    return {name: getattr(request, name) for name in names if not name.startswith("include_")}


def _system(messages: Sequence[Message]) -> str | None:
    """All that stands before the question and is no earlier turn of the assistant."""
    told = [f"{message['role']}\0{message['content']}" for message in messages[:-1] if message["role"] != "assistant"]
    return _hash("\0".join(told)) if told else None


def _labels(labels: Labels) -> str | None:
    return None if labels == LABELS else _hash(repr(labels))


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else _hash(repr(value))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
