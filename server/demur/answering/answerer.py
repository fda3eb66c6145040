"""Question -> samples -> answer, as events. The answer in one piece is the last of the same events."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from demur import prompts
from demur.answering.answer import Identity, Outcome, TokenValue, build_answer, may_show
from demur.answering.asked import ConfidenceSource, Question
from demur.answering.drawing import Draw, draw
from demur.answering.errors import InvalidRequest
from demur.answering.events import Event, Final, Progress
from demur.answering.order import Order
from demur.answering.plan import fit, make_plan, numbered
from demur.answering.rounds import Round, round_for, spared, usage_of, written
from demur.answering.showing import Throttle
from demur.answering.valuing import Valuer
from demur.answering.votes import Keys
from demur.engine.base import Engine, EngineDead, EngineError, EngineOverloaded, EngineRestarting
from demur.engine.critic import Critic, Spelling
from demur.grading import Grader
from demur.manifest import Manifest
from demur.settings import Settings
from demur.tracing import UNTRACED, Span

PROGRESS_INTERVAL = 0.25
"""Seconds between two progress events of one request."""


class Answerer:
    """Answers questions with one engine and one model. Knows nothing of HTTP.

    `grader`, when there is one, is running; it tells which formulas among the answers of a vote are equal. `critic`
    is the one that the manifest describes. `clock` gives seconds since the epoch for the replies' `created`.
    """

    def __init__(
        self,
        engine: Engine,
        manifest: Manifest,
        settings: Settings,
        *,
        grader: Grader | None = None,
        critic: Critic | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.engine = engine
        self.manifest = manifest
        self.settings = settings
        self.keys = Keys(grader)
        described = manifest.critic
        self._valuer = Valuer(critic, described) if critic is not None and described is not None else None
        self._clock = clock

    @property
    def confidence_sources(self) -> tuple[ConfidenceSource, ...]:
        """What a caller can choose from."""
        return ("verbalized",) if self._valuer is None else ("verbalized", "critic")

    def order(
        self, question: Question, settings: Settings | None = None, span: Span = UNTRACED, *, caller: str = ""
    ) -> Order:
        """The question checked, its timeout running. `settings` are for this caller, where they are not everybody's.

        Raises InvalidRequest, NotAllowed or UnknownModel.
        """
        critic = self._valuer is not None
        return Order(
            question, make_plan(question, self.manifest, settings or self.settings, critic=critic), span, caller
        )

    async def answer(self, order: Order, *, answer_id: str, first_sample: int = 0) -> Final:
        """The last event of `stream`."""
        async with aclosing(self.stream(order, answer_id=answer_id, first_sample=first_sample)) as events:
            async for event in events:
                if isinstance(event, Final):
                    return event
        raise RuntimeError("a stream of events ends with the answer or raises")

    async def stream(self, order: Order, *, answer_id: str, first_sample: int = 0) -> AsyncGenerator[Event, None]:
        """Events in order, `Final` last. Closing the generator stops the work in the engine.

        `first_sample` numbers the samples when one request asks for several answers: sample i is drawn with seed
        + i, and the engine knows it as `answer_id-i`. Raises AnsweringError or EngineError.
        """
        plan = order.plan
        wanted = await order.deadline.bound(self._prepare(order, answer_id, first_sample))
        with self.keys.opened(order.caller, order) as key_of:
            current = round_for(plan, key_of)
            async with aclosing(self._read(order, wanted, current)) as events:
                async for event in events:
                    yield event
        outcome = current.outcome()
        if plan.include_token_values and may_show(plan, outcome.decision):
            outcome = await order.deadline.bound(self._with_token_values(wanted, outcome))
        answer = build_answer(self._identity(answer_id), plan, outcome, usage_of(current))
        yield Final(answer, current.states, outcome.ending, spared(current, wanted.samplings[0].max_tokens))

    async def _read(self, order: Order, wanted: Draw, current: Round) -> AsyncGenerator[Event, None]:
        """Feed the round until it is over; what the samples cost is counted however that ends."""
        throttle = Throttle(PROGRESS_INTERVAL)
        try:
            async with aclosing(draw(self.engine, wanted, order.deadline)) as arrivals:
                async for i, piece in arrivals:
                    taking = current.take(i, piece)
                    shown = await (order.deadline.bound(taking) if piece is None else taking)
                    for event in shown:
                        yield event
                    if current.over:
                        break
                    if not shown and throttle.due():
                        yield Progress(written(current))
        finally:
            order.spend(written(current), usage_of(current).prompt_tokens)

    async def _prepare(self, order: Order, answer_id: str, first: int) -> Draw:
        question, plan = order.question, order.plan
        messages = prompts.messages(
            question.turns, plan.contract, domain=trained_domain(self.manifest), risk_threshold=plan.risk_threshold
        )
        try:
            prompt = await self.engine.prepare(messages)
        except (EngineDead, EngineOverloaded, EngineRestarting):
            raise
        except EngineError as error:  # too long, or refused by the model's chat template: the caller can change it
            raise InvalidRequest(str(error), question.param) from error
        sampling = fit(plan, prompt, self.engine.max_model_len)
        if prompt.token_ids is not None:
            order.read(len(prompt.token_ids))
        samplings = [numbered(sampling, first + i) for i in range(plan.samples)]
        decides = plan.confidence_source == "critic"
        return Draw(prompt, samplings, answer_id, first, self._valuer if decides else None, order.span)

    async def _with_token_values(self, drawn: Draw, outcome: Outcome) -> Outcome:
        """The critic is asked now, unless it was before the decision: it only values what will be seen."""
        if self._valuer is None or not isinstance(self.engine, Spelling):
            raise EngineError("token values need a critic, and an engine that knows the text of its tokens")
        values = outcome.values or await self._valuer.value(drawn.prompt, outcome.tokens, request_id=drawn.id)
        pieces = self.engine.pieces(drawn.prompt, outcome.tokens)
        shown = tuple(TokenValue(text=text, value=value) for text, value in zip(pieces, values.after, strict=True))
        return replace(outcome, token_values=shown)

    def _identity(self, answer_id: str) -> Identity:
        return Identity(
            id=answer_id,
            created=int(self._clock()),
            model=self.manifest.name,
            calibrated=self.manifest.calibrated,
        )


def trained_domain(manifest: Manifest) -> prompts.Domain:
    """The wording a model was trained with; the general one for a model whose manifest names none."""
    return "maths" if manifest.training.get("domain") == "maths" else "general"
