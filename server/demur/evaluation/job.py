"""A run that is to be made: a plan, its questions, and where to ask, judge and write."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demur.evaluation.asking.answers import AnswersApi
from demur.evaluation.asking.base import Api, Key, Output, Request
from demur.evaluation.asking.chat import ChatApi
from demur.evaluation.asking.crew import key_of
from demur.evaluation.asking.endpoint import Endpoint, connect
from demur.evaluation.asking.store import read_records
from demur.evaluation.datasets import Loaded, Question
from demur.evaluation.plan import Plan

RESPONSES, VERDICTS = "responses.jsonl.gz", "verdicts.jsonl.gz"
ROWS, CLAIMS, FAILURES = "rows.jsonl", "claims.jsonl", "failures.jsonl"
"""The files in the folder of a run."""


@dataclass(frozen=True, slots=True)
class Access:
    """How a host is reached. None of it changes an answer."""

    base_url: str
    api_key: str | None = field(default=None, repr=False)
    concurrency: int = 8
    timeout: float = 600.0
    retries: int = 6

    def endpoint(self) -> Endpoint:
        """A connection; its client is to be closed by the caller."""
        client = connect(self.base_url, self.api_key, timeout=self.timeout, connections=self.concurrency)
        return Endpoint(client, self.retries)


@dataclass(frozen=True, slots=True)
class Job:
    """A plan and everything it needs. `judge_extra` goes into every request to the judge."""

    plan: Plan
    loaded: Loaded
    folder: Path
    access: Access
    judge: Access | None = None
    judge_extra: dict[str, Any] = field(default_factory=dict[str, Any])


def api_of(plan: Plan) -> Api:
    """The API of a plan."""
    extra = tuple(plan.extra.items())
    request = Request(plan.model, plan.temperature, plan.top_p, plan.max_tokens, plan.seed, extra)
    if plan.api == "chat":
        return ChatApi(request, plan.contract, plan.domain, plan.aggregation or "min")
    chosen_there = plan.samples if plan.selection is not None else 1
    source = plan.confidence_source
    return AnswersApi(request, plan.contract, plan.aggregation, source, chosen_there, plan.selection)


def stored_outputs(plan: Plan, loaded: Loaded, folder: Path) -> list[tuple[Key, Question, Output]]:
    """The stored responses that the plan asks for, read, in the plan's order."""
    api, questions = api_of(plan), {question.id: question for question in loaded.questions}
    outputs = {key_of(stored): api.output(stored["body"]) for stored in read_records(folder / RESPONSES)}
    keys = [ask.key for ask in plan.asks(loaded)]
    return [(key, questions[key.problem], outputs[key]) for key in keys if key in outputs]
