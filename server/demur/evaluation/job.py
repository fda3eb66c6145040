"""A run that is to be made: its settings, its questions, its folder, and the requests that they come to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from demur.evaluation.asking.answers_api import AnswersApi
from demur.evaluation.asking.base import Api, EvaluationRequest, Output, Request, RequestId
from demur.evaluation.asking.chat import ChatApi
from demur.evaluation.asking.endpoint import Endpoint, connect
from demur.evaluation.asking.runner import key_of
from demur.evaluation.asking.store import read_records
from demur.evaluation.datasets import Loaded, Question
from demur.evaluation.field_marks import SENT, SENT_TO_DEMUR, sent
from demur.evaluation.run_config import RunConfig
from demur.evaluation.validation import check

RESPONSES, VERDICTS = "responses.jsonl.gz", "verdicts.jsonl.gz"
ROWS, CLAIMS, FAILURES = "rows.jsonl", "claims.jsonl", "failures.jsonl"
"""The files in the folder of a run."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run: settings, questions, and the folder of its files."""

    config: RunConfig
    loaded: Loaded
    folder: Path

    @property
    def api(self) -> Api:
        """The API that is asked, with all that goes into every request."""
        config = self.config
        if config.api == "chat":
            return ChatApi(
                request_of(config),
                config.contract,
                self.loaded.dataset.domain,
                config.prompt_wording,
                config.aggregation or "min",
                config.bare,
            )
        asserts = config.granularity == "claims" and config.max_error is not None
        return AnswersApi(request_of(config), asserts=asserts)

    def asks(self) -> Iterator[EvaluationRequest]:
        """Every request of the run, the first sample of all questions before the second of any.

        A run that is stopped early has then seen every question as often as possible.
        """
        thresholds = self.config.grid or (None,)
        for sample in range(1 if self.config.chooses_there else self.config.samples):
            for question in self.loaded.questions:
                for t in thresholds:
                    yield EvaluationRequest(RequestId(question.id, sample, t), question.text)

    def stored_outputs(self) -> list[tuple[RequestId, Question, Output]]:
        """The stored responses that the run asks for, read, in the order of its requests."""
        api, questions = self.api, {question.id: question for question in self.loaded.questions}
        records = read_records(self.folder / RESPONSES)
        outputs = {key_of(stored): api.output(stored["body"]) for stored in records}
        keys = [ask.key for ask in self.asks()]
        return [(key, questions[key.problem], outputs[key]) for key in keys if key in outputs]


def job_of(config: RunConfig, loaded: Loaded, out: Path | None) -> Job:
    """The job for one model. Raises EvaluationError naming the option that does not fit."""
    check(config, loaded.dataset.grader)
    named = _name(loaded.dataset.name, config.model or "default", config.contract)
    return Job(config, loaded, out or Path("evaluations") / named)


def request_of(config: RunConfig) -> Request:
    """What goes into every request. Samples are asked for one by one unless the server chooses among them."""
    fields = sent(config, SENT) if config.api == "chat" else sent(config, SENT, SENT_TO_DEMUR)
    if not config.chooses_there:
        fields.pop("samples", None)
    if config.signals and config.api == "answers":
        fields["include_signals"] = list(config.signals)
    return Request(fields, config.extra)


def endpoint_of(config: RunConfig) -> Endpoint:
    """A connection to the model's host; its client is to be closed by the caller."""
    client = connect(config.base_url, config.api_key, timeout=config.timeout, connections=config.concurrency)
    return Endpoint(client, config.retries)


def judge_endpoint_of(config: RunConfig) -> Endpoint:
    """A connection to the judge's host, the model's own where no other is named."""
    address, key = config.judge_base_url or config.base_url, config.judge_api_key or config.api_key
    client = connect(address, key, timeout=config.timeout, connections=config.judge_concurrency)
    return Endpoint(client, config.retries)


def _name(*parts: str) -> str:
    """A folder name."""
    return "-".join(re.sub(r"[^A-Za-z0-9._]+", "_", Path(part).name or part).strip("_") for part in parts)
