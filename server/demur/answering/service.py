"""The answering service: messages -> samples -> answer, as events; the whole answer is the last of them."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from demur import prompts
from demur.answering.active import ActiveRequest
from demur.answering.answer_equivalence import AnswerEquivalence
from demur.answering.calibrator_choice import with_calibrator
from demur.answering.collector import (
    SampleCollector,
    collector_for,
    count_untold,
    tokens_saved_upper_bound,
    tokens_so_far,
    usage_of,
)
from demur.answering.confidence import SOURCES, CriticScorer, ScoringServices
from demur.answering.confidence.signal import tokens_of
from demur.answering.errors import ContextTooLong, InvalidRequest
from demur.answering.events import Event, Final, Progress
from demur.answering.outcome import Outcome, outcome_of
from demur.answering.params import UnresolvedRequest
from demur.answering.reading_steps import read_in_steps, reading_step
from demur.answering.redaction import build_answer, logprobs_are_visible, output_is_visible
from demur.answering.resolve import resolve
from demur.answering.response import Identity, TokenValue
from demur.answering.sampler import SampleBatch, draw
from demur.answering.sampling_settings import fit, numbered
from demur.answering.signals import SignalScores
from demur.answering.tail_forcing import TailForcer
from demur.answering.visible_tokens import visible_tokens
from demur.calibration.store import CalibratorStore
from demur.core.contracts import Contract
from demur.engine.base import (
    Engine,
    EngineDead,
    EngineError,
    EngineOverloaded,
    EngineRestarting,
    Message,
    Prompt,
    PromptTooLong,
    TemplateArguments,
)
from demur.engine.critic import Critic, TokenTexts
from demur.fingerprint import of_name
from demur.grading import Grader
from demur.manifest import Manifest
from demur.settings import Settings
from demur.tracing import UNTRACED, Span

PROGRESS_INTERVAL = 0.25
"""Seconds between two progress events of one request."""


class Answerer:
    """Answers questions with one engine and one model. Knows nothing of HTTP.

    `grader`, when there is one, is running; it tells which formulas among the answers of a vote are equal. `critic`
    is the one that the manifest describes. `calibrators` are asked in their order whether they fit, `fingerprint` tells
    the model from others. `clock` gives seconds since the epoch for the replies' `created`.
    """

    def __init__(
        self,
        engine: Engine,
        manifest: Manifest,
        settings: Settings,
        *,
        grader: Grader | None = None,
        critic: Critic | None = None,
        calibrators: CalibratorStore | None = None,
        fingerprint: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.engine = engine
        self.manifest = manifest
        self.settings = settings
        self.fingerprint = fingerprint or of_name(manifest.name, manifest)
        self.equivalence = AnswerEquivalence(grader)
        self._services = ScoringServices(engine, manifest, critic, calibrators or CalibratorStore())
        self._signals = SignalScores(self._services)
        self._clock = clock

    @property
    def calibrators(self) -> CalibratorStore:
        """Those that are served, none where there are none."""
        return self._services.calibrators

    @property
    def confidence_sources(self) -> tuple[str, ...]:
        """What a caller can choose from."""
        return tuple(name for name, source in SOURCES.items() if source.unavailable(self._services) is None)

    @property
    def services(self) -> ScoringServices:
        """What signals are computed with."""
        return self._services

    def open(
        self, request: UnresolvedRequest, settings: Settings | None = None, span: Span = UNTRACED, *, caller: str = ""
    ) -> ActiveRequest:
        """The request checked, its timeout running. `settings` are for this caller, where they are not everybody's.

        Raises InvalidRequest, NotAllowed or UnknownModel.
        """
        settings = settings or self.settings
        resolved = resolve(request, self.manifest, settings, self._services)
        return ActiveRequest(with_calibrator(resolved, request.params, settings, self._services), span, caller)

    async def answer(self, active: ActiveRequest, *, answer_id: str, first_sample: int = 0) -> Final:
        """The last event of `stream`, with samples read no more often than that takes."""
        async with aclosing(self._events(active, answer_id, first_sample, streamed=False)) as events:
            async for event in events:
                if isinstance(event, Final):
                    return event
        raise RuntimeError("a stream of events ends with the answer or raises")

    def stream(
        self, active: ActiveRequest, *, answer_id: str, first_sample: int = 0, watched: bool = True
    ) -> AsyncGenerator[Event, None]:
        """Events in order, `Final` last. Closing the generator stops the work in the engine.

        `first_sample` numbers the samples when one request asks for several answers: sample i is drawn with seed
        + i, and the engine knows it as `answer_id-i`. Who waits for `Final` alone says that nothing before it is
        `watched`: samples are then read no more often than the answer takes. Raises AnsweringError or EngineError.
        """
        return self._events(active, answer_id, first_sample, streamed=watched)

    async def _events(
        self, active: ActiveRequest, answer_id: str, first_sample: int, *, streamed: bool
    ) -> AsyncGenerator[Event, None]:
        request = active.request
        step = reading_step(request, streamed=streamed)
        batch = await active.deadline.bound(self._prepare(active, answer_id, first_sample, step))
        with self.equivalence.opened(active.caller, active) as key_of:
            collector = collector_for(request, key_of)
            async with aclosing(self._collect(active, batch, collector)) as events:
                async for event in events:
                    yield event
        candidate = collector.candidate()
        scoring = self._signals.of(candidate, request.signals, batch, f"{answer_id}-{first_sample}")
        outcome = outcome_of(request, candidate, await active.deadline.bound(scoring))
        if request.contract.takes_schema:
            told = self._signals.of_fields(candidate, request.include_signals, batch)
            outcome = replace(outcome, field_signals=told)
        signal_tokens = tokens_of(outcome.signals)
        active.count_signals(signal_tokens or 0)
        if request.include_token_values and output_is_visible(request, outcome.decision):
            outcome = await active.deadline.bound(self._with_token_values(batch, outcome))
        usage = replace(usage_of(collector), signal_tokens=signal_tokens)
        answer = build_answer(self._identity(answer_id, request.contract), request, outcome, usage)
        saved = tokens_saved_upper_bound(collector, batch.samplings[0].max_tokens)
        shown = logprobs_are_visible(request, outcome.decision)
        logprobs = visible_tokens(candidate.raw, answer.text, candidate.sample.logprobs) if shown else None
        late = candidate.tokens_past_decision
        yield Final(answer, collector.states, outcome.ending, saved, outcome, logprobs, late)

    async def _collect(
        self, active: ActiveRequest, batch: SampleBatch, collector: SampleCollector
    ) -> AsyncGenerator[Event, None]:
        """Feed the collector until it is over; what the samples cost is counted however that ends."""
        throttle = Throttle(PROGRESS_INTERVAL)
        try:
            async with aclosing(draw(self.engine, batch, active.deadline)) as arrivals:
                async for i, piece in arrivals:
                    taking = collector.take(i, piece)
                    shown = await (active.deadline.bound(taking) if piece is None else taking)
                    for event in shown:
                        yield event
                    if collector.over:
                        break
                    if not shown and throttle.due():
                        yield Progress(tokens_so_far(collector))
        finally:
            count_untold(collector, batch)
            active.count_samples(tokens_so_far(collector), usage_of(collector).prompt_tokens)

    async def _prepare(self, active: ActiveRequest, answer_id: str, first: int, step: int | None) -> SampleBatch:
        request = active.request
        messages = prompts.messages(
            request.messages,
            request.contract.name,
            domain=self.manifest.domain,
            risk_threshold=request.risk_threshold,
            schema=request.schema,
            trained=request.trained_wording,
        )
        try:
            prompt = await self._prompt(messages, request.template)
        except (EngineDead, EngineOverloaded, EngineRestarting):
            raise
        except PromptTooLong as error:
            raise ContextTooLong(str(error), request.field) from error
        except EngineError as error:  # refused by the model's chat template: the caller can change it
            raise InvalidRequest(str(error), request.field) from error
        sampling = fit(request, prompt, self.engine.max_model_len)
        if request.max_tokens_asked and sampling.max_tokens < request.sampling.max_tokens:
            active.notices.append(f"max_tokens={sampling.max_tokens}; the prompt leaves no room for more")
        if prompt.token_ids is not None:
            active.count_prompt(len(prompt.token_ids))
        samplings = [read_in_steps(numbered(sampling, first + i), step) for i in range(request.samples)]
        forcer = TailForcer(request.form) if request.forces_tail else None
        scorer = self._signals.voting(request)
        return SampleBatch(prompt, samplings, answer_id, request.form, first, scorer, active.span, forcer)

    async def _prompt(self, messages: Sequence[Message], template: TemplateArguments | None) -> Prompt:
        return await (self.engine.prepare(messages, template) if template else self.engine.prepare(messages))

    async def _with_token_values(self, batch: SampleBatch, outcome: Outcome) -> Outcome:
        """The critic is asked now, unless it was before the decision: it only values what will be seen."""
        critic = self._signals.scorers["critic"]
        if not isinstance(critic, CriticScorer) or not isinstance(self.engine, TokenTexts):
            raise EngineError("token values need a critic, and an engine that knows the text of its tokens")
        values = outcome.values or await critic.estimate(batch.prompt, outcome.token_ids, request_id=batch.id)
        pieces = self.engine.pieces(batch.prompt, outcome.token_ids)
        shown = tuple(TokenValue(text=text, value=value) for text, value in zip(pieces, values.after, strict=True))
        return replace(outcome, token_values=shown)

    def _identity(self, answer_id: str, contract: Contract) -> Identity:
        """Nobody calibrated a model on a form that its manifest does not list."""
        return Identity(
            id=answer_id,
            created=int(self._clock()),
            model=self.manifest.name,
            calibrated=self.manifest.calibrated and contract.name in self.manifest.contracts,
        )


class Throttle:
    """Lets something happen at most once in `interval` seconds, the first time at once."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._next = 0.0

    def due(self) -> bool:
        """Whether it may happen now; if so, the interval begins anew."""
        now = asyncio.get_running_loop().time()
        if now < self._next:
            return False
        self._next = now + self._interval
        return True
