"""The signals of an answer that was chosen: those that its request needs, each computed once."""

from collections.abc import Sequence

from demur.answering.confidence import (
    SOURCES,
    FieldSignals,
    FieldSource,
    FinishedSample,
    Score,
    Scorer,
    Scores,
    ScoringServices,
    Signal,
)
from demur.answering.confidence.plan import Wanted
from demur.answering.outcome import Candidate
from demur.answering.resolved_request import ResolvedRequest
from demur.answering.sampler import SampleBatch
from demur.engine.base import EngineError


class SignalScores:
    """Computes the signals of answers with the engine, the critic and the calibrators of one server."""

    def __init__(self, services: ScoringServices) -> None:
        self._services = services
        self.scorers = {name: source.scorer(services) for name, source in SOURCES.items()}

    def voting(self, request: ResolvedRequest) -> Scorer | None:
        """What scores each sample of a vote when it ends; None for a single sample, and where samples vote with the
        confidence that they state."""
        read_anyway = request.voting_source == next(iter(SOURCES))
        return None if request.samples == 1 or read_anyway else self.scorers[request.voting_source]

    async def of(self, candidate: Candidate, wanted: Wanted, batch: SampleBatch, request_id: str) -> Scores:
        """The wanted signals of the chosen answer by name, with those that are known already.

        One that is only shown is missing where its computation fails; a decisive one then raises EngineError.
        """
        scores = dict(candidate.scores)
        for name in wanted.names:
            if name in scores:
                continue
            if candidate.given_up:
                scores[name] = Score(Signal.missing("the sample was stopped before its end"))
                continue
            sample = _finished(candidate, batch, request_id, scores)
            scores[name] = await self._score(name, sample, decisive=name in wanted.decisive)
        return scores

    def of_fields(self, candidate: Candidate, names: Sequence[str], batch: SampleBatch) -> FieldSignals:
        """The signals of each field of a JSON answer, in order: those of `names` that single fields have, by name."""
        sources = {name: source for name in names if isinstance(source := SOURCES[name], FieldSource)}
        if not sources:
            return ()
        sample = _finished(candidate, batch, batch.id, {})
        fields = candidate.completion.fields
        return tuple({name: one.of_field(each, sample) for name, one in sources.items()} for each in fields)

    async def _score(self, name: str, sample: FinishedSample, *, decisive: bool) -> Score:
        scorer = self.scorers[name]
        if scorer is None:
            return Score(Signal.missing(SOURCES[name].unavailable(self._services) or f"{name} is not served here"))
        try:
            return await scorer.score(sample)
        except EngineError:
            if decisive:
                raise
            return Score(Signal.missing("what computes it failed"))


def _finished(candidate: Candidate, batch: SampleBatch, request_id: str, scores: Scores) -> FinishedSample:
    return FinishedSample(
        prompt=batch.prompt,
        token_ids=candidate.token_ids,
        text=candidate.raw,
        request_id=request_id,
        read=lambda: candidate.as_read,
        answer_span=lambda answer: batch.form.answer_span(candidate.raw, answer),
        logprobs=candidate.sample.logprobs,
        ballot=None if candidate.vote is None else candidate.vote.ballot,
        signals={name: score.signal for name, score in scores.items()},
    )
