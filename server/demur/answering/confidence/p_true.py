"""The chance that the model gives its own answer when asked whether it is right (P(True), arXiv:2207.05221).

One more turn on the same conversation, of which one token is drawn: the prompt and the output are in the engine's
prefix cache, where it has one, so that only the question is read anew.
"""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from math import exp
from typing import TYPE_CHECKING

from demur import prompts
from demur.answering.confidence.answer_logprob import NO_ANSWER, NOT_TOLD
from demur.answering.confidence.base import FinishedSample, Needs, Score, ScoringServices
from demur.answering.confidence.signal import Cost, Signal
from demur.engine.base import Chunk, Engine, PromptTooLong, RequestRefused, Sampling

if TYPE_CHECKING:
    from demur.answering.params import RequestParams

ONE_TOKEN = Sampling(max_tokens=1, temperature=0.0, logprobs=20)
"""The first token decides; twenty alternatives are the most that hosts tell by default."""
NO_ROOM = "the output leaves no room to ask whether it is right"
REFUSED = "the model's host does not take the question whether the answer is right"
NEITHER = "neither yes nor no is among the likeliest replies"
_AROUND = " \t\n\r\u2581\u0120\u010a\"'`*_.,:;!()"
"""What tokens for one word differ by; three of them stand for a space or a line's end in raw vocabularies."""


class PTrue:
    """P(True) as a confidence in [0, 1]. It costs one call more for each answer, not for each sample of a vote."""

    per_claim = False
    votes = False

    def needs(self, services: ScoringServices) -> Needs:
        return Needs(calls=1)

    def unavailable(self, services: ScoringServices) -> str | None:
        return None

    def refusal(self, params: "RequestParams", services: ScoringServices) -> str | None:
        return None

    def scorer(self, services: ScoringServices) -> "PTrueScorer":
        return PTrueScorer(services.engine)


class PTrueScorer:
    """Computes P(True) with one engine, in one call for one token."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def score(self, sample: FinishedSample) -> Score:
        """P(True) of the sample's answer.

        Missing without an answer, where the output leaves no room for the question, the host refuses it or tells no
        log-probabilities, and where neither yes nor no is among the likeliest tokens. Raises EngineError for every
        other failure.
        """
        if sample.read().answer is None:
            return Score(Signal.missing(NO_ANSWER))
        clock = asyncio.get_running_loop().time
        before = clock()
        try:
            chunks = await self._ask(sample)
        except PromptTooLong:
            return Score(Signal.missing(NO_ROOM))
        except RequestRefused:
            return Score(Signal.missing(REFUSED))
        return Score(_signal(chunks, _cost(chunks, 1000 * (clock() - before))))

    async def _ask(self, sample: FinishedSample) -> list[Chunk]:
        turns = prompts.ask_if_right(sample.prompt.messages, sample.text)
        prompt = await self._engine.prepare(turns, sample.prompt.template)
        stream = self._engine.stream(prompt, ONE_TOKEN, request_id=f"{sample.request_id}-p-true")
        async with aclosing(stream) as chunks:
            return [chunk async for chunk in chunks]


def yes_share(alternatives: Sequence[tuple[str, float]]) -> float | None:
    """P(yes) / (P(yes) + P(no)) over all tokens that spell either; None where neither is there.

    `alternatives` are (text, natural log-probability) of the likeliest tokens. One word alone among them is compared
    with the least likely of them, which the other cannot exceed: so that no share is 1 that nobody has seen to be.
    """
    yes, no = (_mass(alternatives, word) for word in ("yes", "no"))
    least = exp(min((logprob for _, logprob in alternatives), default=0.0))
    if not (yes or no):
        return None
    yes, no = (mass or least for mass in (yes, no))
    return yes / (yes + no)


def _mass(alternatives: Iterable[tuple[str, float]], word: str) -> float:
    return sum(exp(logprob) for text, logprob in alternatives if text.strip(_AROUND).casefold() == word)


def _signal(chunks: Sequence[Chunk], cost: Cost) -> Signal:
    told = next((token.alternatives for chunk in chunks for token in chunk.logprobs if token.alternatives), ())
    if not told:
        return Signal.missing(NOT_TOLD, cost)
    share = yes_share(told)
    return Signal.missing(NEITHER, cost) if share is None else Signal(share, cost=cost)


def _cost(chunks: Sequence[Chunk], milliseconds: float) -> Cost:
    """What the engine counted last; None where it counts nothing."""
    prompt, cached, written = None, None, None
    for chunk in chunks:
        prompt = prompt if chunk.prompt_tokens is None else chunk.prompt_tokens
        cached = cached if chunk.cached_tokens is None else chunk.cached_tokens
        written = written if chunk.completion_tokens is None else chunk.completion_tokens
    return Cost(1, prompt, cached, written, round(milliseconds, 3))
