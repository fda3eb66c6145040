"""The options of `demur evaluate`, and what they make."""

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from demur.core.answers import Aggregation, Contract, Granularity
from demur.core.selection import SelectionRule
from demur.evaluation.asking.endpoint import host_of
from demur.evaluation.datasets import GraderName, Loaded
from demur.evaluation.errors import EvaluationError
from demur.evaluation.job import Access, Job
from demur.evaluation.plan import ApiName, Plan

DEFAULT_THRESHOLDS = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,0.99"


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller chose. None leaves a choice to the endpoint."""

    base_url: str
    api: ApiName
    model: str | None
    contract: Contract
    granularity: Granularity | None
    aggregation: Aggregation | None
    confidence_source: str | None
    samples: int
    selection: SelectionRule | None
    risk_thresholds: str
    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    seed: int | None
    extra: str | None
    limit: int | None
    judge_model: str | None
    judge_base_url: str | None
    judge_sees_confidence: bool
    api_key: str | None = field(default=None, repr=False)
    judge_api_key: str | None = field(default=None, repr=False)
    judge_extra: str | None = None
    concurrency: int = 8
    judge_concurrency: int = 8
    timeout: float = 600.0
    retries: int = 6


def job_of(options: Options, loaded: Loaded, out: Path | None) -> Job:
    """The job for one model. Raises EvaluationError naming the option that does not fit."""
    refuse(options, loaded.dataset.grader)
    for address in (options.base_url, options.judge_base_url or options.base_url):
        host_of(address)
    plan = plan_of(options, loaded)
    access = Access(options.base_url, options.api_key, options.concurrency, options.timeout, options.retries)
    judge = None
    if options.judge_model is not None:
        base_url, key = options.judge_base_url or options.base_url, options.judge_api_key or options.api_key
        judge = replace(access, base_url=base_url, api_key=key, concurrency=options.judge_concurrency)
    folder = out or Path("evaluations") / _name(loaded.dataset.name, options.model or "default", options.contract)
    return Job(plan, loaded, folder, access, judge, json_object(options.judge_extra, "--judge-extra-body"))


def plan_of(options: Options, loaded: Loaded) -> Plan:
    """The part of the options that decides answers and grades."""
    dataset = loaded.dataset
    return Plan(
        dataset=dataset.name,
        source=loaded.source,
        sha256=loaded.sha256,
        questions=len(loaded.questions),
        limit=options.limit,
        domain=dataset.domain,
        grader=dataset.grader,
        base_url=options.base_url,
        api=options.api,
        model=options.model,
        contract=options.contract,
        granularity=options.granularity or "response",
        aggregation=options.aggregation,
        confidence_source=options.confidence_source,
        samples=options.samples,
        selection=options.selection,
        risk_thresholds=thresholds(options.risk_thresholds) if options.contract == "explicit_risk" else (),
        temperature=options.temperature,
        top_p=options.top_p,
        max_tokens=options.max_tokens,
        seed=options.seed,
        extra=json_object(options.extra, "--extra-body"),
        judge=options.judge_model,
        judge_sees_confidence=options.judge_sees_confidence,
    )


def refuse(options: Options, grader: GraderName) -> None:
    """Raise EvaluationError for options that contradict each other, before anything is asked."""
    chat, claims = options.api == "chat", options.contract == "claims"
    critic = options.confidence_source == "critic"
    wrong = {
        "--model is needed with --api chat": chat and options.model is None,
        "--confidence-source needs --api answers: a bare chat host has no critic": chat and critic,
        "--confidence-source critic values whole answers: leave out --granularity claims": (
            critic and options.granularity == "claims"
        ),
        "--confidence-source critic values whole answers: leave out --aggregation": (
            critic and options.aggregation is not None
        ),
        "--confidence-source critic does not fit --contract explicit_risk: there is no confidence to replace": (
            critic and options.contract == "explicit_risk"
        ),
        "--granularity claims needs --contract claims": options.granularity == "claims" and not claims,
        "--aggregation needs --contract claims": options.aggregation is not None and not claims,
        "--granularity claims needs --judge-model: nobody else can say whether a claim is right": (
            options.granularity == "claims" and options.judge_model is None
        ),
        "--selection needs --samples above 1": options.selection is not None and options.samples < 2,
        "--selection does not fit --contract explicit_risk: there is no confidence to choose by": (
            options.selection is not None and options.contract == "explicit_risk"
        ),
        "the simpleqa grader needs --judge-model": grader == "simpleqa" and options.judge_model is None,
    }
    for message, applies in wrong.items():
        if applies:
            raise EvaluationError(message)


def thresholds(text: str) -> tuple[float, ...]:
    """The grid of t from "0,0.5,0.9". Raises EvaluationError."""
    try:
        grid = tuple(sorted({float(part) for part in text.split(",")}))
    except ValueError:
        raise EvaluationError(f"--risk-thresholds {text!r}: write numbers with commas between") from None
    if not all(0 <= t <= 1 for t in grid):
        raise EvaluationError(f"--risk-thresholds {text!r}: each must be in [0, 1]")
    return grid


def json_object(text: str | None, option: str) -> dict[str, Any]:
    """A JSON object from the command line. Raises EvaluationError."""
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise EvaluationError(f"{option}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise EvaluationError(f"{option}: must be a JSON object")
    return value


def _name(*parts: str) -> str:
    """A folder name."""
    return "-".join(re.sub(r"[^A-Za-z0-9._]+", "_", Path(part).name or part).strip("_") for part in parts)
