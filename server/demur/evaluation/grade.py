"""Grading the stored responses of a run, and the rows that come of it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from demur.evaluation.asking.base import Output, RequestId
from demur.evaluation.asking.store import Store
from demur.evaluation.bounded_gather import bounded_gather
from demur.evaluation.datasets import Question
from demur.evaluation.job import VERDICTS, Job, judge_endpoint_of
from demur.evaluation.judging import claims as claim_judge
from demur.evaluation.judging.formulas import Formulas
from demur.evaluation.judging.graders import GRADERS, Verdict
from demur.evaluation.judging.judge import Judge
from demur.evaluation.progress import bar
from demur.evaluation.rows import Row
from demur.evaluation.run_config import RunConfig

WITHOUT_JUDGE = 4
"""Outputs graded at once where nothing has to be waited for but the formula worker."""


@dataclass(frozen=True, slots=True)
class Graded:
    """One output with its verdicts. `claims` has one entry for each claim, None where the judge gave none.

    `group` is equal for the answers to one question that mean the same; None without an answer, or where a question was
    answered once and nothing is to be grouped.
    """

    key: RequestId
    question: Question
    output: Output
    verdict: Verdict
    claims: tuple[bool | None, ...] = ()
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Grades:
    """All graded outputs, in the order of the requests, and the cases for which the judge gave no verdict."""

    outputs: list[Graded]
    malformed: int = 0
    unanswered: int = 0
    last_trouble: str | None = None


async def grade(job: Job) -> Grades:
    """Grade every stored response of the run. Raises EvaluationError where the judge cannot be reached at all."""
    config, outputs = job.config, job.stored_outputs()
    graded: dict[RequestId, Graded] = {}
    several = config.samples > 1
    async with _judge(job) as judge:
        with Formulas() as formulas, bar("grading", len(outputs)) as progress:
            grader = GRADERS[job.loaded.dataset.grader](formulas, judge)

            async def one(item: tuple[RequestId, Question, Output]) -> None:
                key, question, output = item
                verdict = await grader.grade(question, output)
                claims = await _judge_claims(config, judge, question, output, verdict)
                group = await formulas.key(output.answer) if output.answer is not None and several else None
                graded[key] = Graded(key, question, output, verdict, claims, group)
                progress.advance()

            await bounded_gather(outputs, one, WITHOUT_JUDGE if judge is None else config.judge_concurrency)
    ordered = [graded[key] for key, _, _ in outputs]
    if judge is None:
        return Grades(ordered)
    return Grades(ordered, judge.malformed, judge.unanswered, judge.last_trouble)


def row_of(one: Graded) -> Row:
    """The row of a whole answer. An explicit-risk output without an answer gave none, whether it declined or not; the
    state of one that neither answered nor declined is "invalid"."""
    key, output = one.key, one.output
    if key.risk_threshold is None:
        told = output.signals
        return Row(key.problem, key.sample, output.confidence, one.verdict.correct, state=output.state, signals=told)
    abstained = output.answer is None
    state = "invalid" if unreadable(one) else "missing"
    return Row(key.problem, key.sample, None, one.verdict.correct, None, state, key.risk_threshold, abstained)


def unreadable(one: Graded) -> bool:
    """Whether an explicit-risk output neither answered nor declined, as its prompt asked."""
    return one.key.risk_threshold is not None and one.output.answer is None and not one.output.idk


def claim_rows(one: Graded) -> Iterator[Row]:
    """The rows of the claims of one answer."""
    for i, (claim, correct) in enumerate(zip(one.output.claims, one.claims, strict=True)):
        state = "value" if claim.confidence is not None else "invalid" if claim.problems else "missing"
        yield Row(one.key.problem, one.key.sample, claim.confidence, correct, i, state)


async def _judge_claims(
    config: RunConfig, judge: Judge | None, question: Question, output: Output, verdict: Verdict
) -> tuple[bool | None, ...]:
    if config.granularity != "claims" or not output.claims:
        return ()
    unjudged = (None,) * len(output.claims)
    if judge is None or verdict.correct is None:
        return unjudged
    shown = config.judge_sees_confidence
    case = claim_judge.case(question.text, output.claims, output.answer, verdict.correct, with_confidence=shown)
    return tuple(await judge.verdict(case) or unjudged)


@asynccontextmanager
async def _judge(job: Job) -> AsyncIterator[Judge | None]:
    if job.config.judge_model is None:
        yield None
        return
    with Store(job.folder / VERDICTS) as cache:
        endpoint = judge_endpoint_of(job.config)
        async with endpoint.client:
            judge = Judge(endpoint, job.config.judge_model, cache, job.config.judge_extra)
            judge.load()
            yield judge
