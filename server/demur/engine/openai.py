"""The engine port over any OpenAI-compatible hosts: a vLLM fleet, a router, a hosted model.

Samples go to the healthy upstream with the most room. What fails before the first piece of text is tried again, on
another upstream where there is one; what fails later is an error, because a sample cannot be continued elsewhere.
No host is trusted: see chat_event.py, event_stream.py and chat_stream.py for what it may send, and balancing.py for
what becomes of one that fails.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any

from demur.engine.balancing import FIRST_REST, Host, choose
from demur.engine.base import (
    Chunk,
    EngineError,
    EngineOverloaded,
    Message,
    Prompt,
    RequestRefused,
    Resumption,
    Sampling,
    TemplateArguments,
    Trace,
)
from demur.engine.chat_event import Ask
from demur.engine.chat_stream import Overrun, chat_stream
from demur.engine.holding import held_back
from demur.engine.parallel_sampling import ParallelSamples, differ_by_seed_alone
from demur.engine.resuming import further, put_behind
from demur.engine.upstreams import Upstream, client_of, model_cards

MOST_ALTERNATIVES, FEW_ALTERNATIVES = 20, 5
"""Likeliest tokens beside each that is drawn: what OpenAI allows, and what several hosts do."""
LONGEST_STEP = 32
"""Tokens in one event of a reply that nobody watches: slow hosts make so many within the silence they are allowed."""
_WORST = (RequestRefused, EngineOverloaded, EngineError)
"""Of several failures, which one the caller is told: what it can mend, then what waiting mends."""


@dataclass(frozen=True, slots=True)
class UpstreamState:
    """How one host is doing. It is unhealthy from a failure on, until it has answered a question again."""

    name: str
    running: int
    is_unhealthy: bool


class OpenAIEngine:
    """Draws samples from several upstreams that serve the same model.

    `structured_outputs` says that they take vLLM's field of that name, which `Sampling.constraint` needs. `continues`
    says that they can go on with a reply so far (`continue_final_message`); a host that refuses, and every other, is
    asked for the rest in a further turn. `stream_interval` says that they take vLLM's field of that name: samples that
    are read in steps, or only at their end, then come in fewer events. They also count the tokens of each of `n`
    choices then, and draw the i-th with seed + i: so several samples that are equal but for that are one request.
    `connect_timeout` and `read_timeout` are seconds; the second one is the longest silence within a sample. Where
    another host is well, one that says nothing to anybody is waited for `first_text_timeout` seconds only, and a third
    of that while it has yet to prove itself.
    """

    def __init__(
        self,
        upstreams: Sequence[Upstream],
        model: str,
        *,
        structured_outputs: bool = False,
        continues: bool = False,
        stream_interval: bool = False,
        attempts: int = 3,
        connect_timeout: float = 5.0,
        read_timeout: float = 120.0,
        first_text_timeout: float = 30.0,
        max_model_len: int | None = None,
    ) -> None:
        if not upstreams:
            raise ValueError("name at least one upstream")
        self._hosts = [Host(each, client_of(each, connect=connect_timeout, read=read_timeout)) for each in upstreams]
        self._model = model
        self._structured_outputs = structured_outputs
        self._continues = continues
        self._stream_interval = stream_interval
        self._samples_in_parallel = stream_interval
        self._attempts = max(attempts, len(upstreams))
        self._read_timeout = read_timeout
        self._first_text_timeout = first_text_timeout
        self._max_model_len = max_model_len
        self._logprobs_taken: int | None = MOST_ALTERNATIVES

    @property
    def max_model_len(self) -> int | None:
        return self._max_model_len

    @property
    def running(self) -> int:
        """Samples that the upstreams are working on."""
        return sum(host.in_flight for host in self._hosts)

    def upstreams(self) -> list[UpstreamState]:
        """How each of them is doing, in the order in which they were named."""
        return [UpstreamState(host.upstream.name, host.in_flight, host.is_unhealthy) for host in self._hosts]

    async def prepare(self, messages: Sequence[Message], template: TemplateArguments | None = None) -> Prompt:
        """The messages as a prompt: the upstream applies the chat template, so no token is counted here."""
        return Prompt(tuple(messages), template=template)

    def stream(
        self, prompt: Prompt, sampling: Sampling, *, request_id: str, trace: Trace | None = None
    ) -> AsyncGenerator[Chunk, None]:
        """One sample. Raises EngineOverloaded when no upstream takes it now, RequestRefused when none ever will,
        EngineError when one broke off.

        A request that is taken once it asks for no log-probabilities shows that these hosts tell none: they are not
        asked for any again. Hosts are always asked for streams, so that one that falls silent is found out.
        """
        chunks = self._pieces(prompt, sampling, request_id, trace)
        return chunks if sampling.step == 1 else held_back(chunks, sampling)

    def streams(
        self, prompt: Prompt, samplings: Sequence[Sampling], *, request_ids: Sequence[str], trace: Trace | None = None
    ) -> Sequence[AsyncGenerator[Chunk, None]]:
        """One sample for each of `samplings`, in one request where the hosts can do that and one of them has the room;
        it has the first one's id."""

        def alone(i: int) -> AsyncGenerator[Chunk, None]:
            return self.stream(prompt, samplings[i], request_id=request_ids[i], trace=trace)

        async def passed_over(i: int) -> AsyncGenerator[Chunk, None]:
            async with aclosing(alone(i)) as chunks:
                async for chunk in chunks:
                    self._samples_in_parallel = False  # what was refused, or passed over, was to draw several
                    yield chunk

        count = len(samplings)
        has_room = any(host.has_room_for(count) for host in self._hosts)
        takes_n = self._samples_in_parallel and prompt.written is None and samplings[0].step != 1
        if not (takes_n and has_room and differ_by_seed_alone(samplings)):
            return [alone(i) for i in range(count)]
        drawn = self._pieces(prompt, samplings[0], request_ids[0], trace, count)
        streams = ParallelSamples(drawn, count, passed_over).streams()
        return [held_back(chunks, sampling) for chunks, sampling in zip(streams, samplings, strict=True)]

    async def _pieces(
        self, prompt: Prompt, sampling: Sampling, request_id: str, trace: Trace | None, count: int = 1
    ) -> AsyncGenerator[Chunk, None]:
        headers = {**(trace or {}), "x-request-id": request_id}
        async with AsyncExitStack() as stack:
            resumed, (host, chunk, rest) = await self._open_in_some_way(prompt, sampling, headers, count, stack)
            if prompt.written is not None and resumed is not None:
                yield Chunk(put_behind(prompt.written, resumed), resumed=resumed)
            try:
                yield chunk
                async for chunk in rest:
                    host.spoke()
                    yield chunk
                    if count > 1 and chunk.finish_reason is not None and chunk.completion_tokens is None:
                        self._samples_in_parallel = False  # a host that does not count each by itself
            except Overrun:
                host.failed()
                return
            except EngineError as error:
                host.failed()
                raise EngineError(f"the upstream broke off: {error}") from error
            host.succeeded()

    async def check(self) -> None:
        """Return when one upstream answers. None of them ever counts as dead: a host may come back."""
        answers = [found is not None for found in await asyncio.gather(*(model_cards(h.client) for h in self._hosts))]
        for host, answer in zip(self._hosts, answers, strict=True):
            host.record_health_check(answer)
        if not any(answers):
            raise EngineOverloaded("no upstream answers", retry_after=FIRST_REST)

    async def close(self) -> None:
        await asyncio.gather(*(host.client.aclose() for host in self._hosts))

    async def _open_in_some_way(
        self, prompt: Prompt, sampling: Sampling, headers: Trace, count: int, stack: AsyncExitStack
    ) -> tuple[Resumption | None, tuple[Host, Chunk, AsyncGenerator[Chunk, None]]]:
        """A reply so far is continued where the hosts can do that and do not refuse it."""
        if prompt.written is None:
            return None, await self._open_with_logprobs(prompt, sampling, headers, None, stack, count)
        if self._continues:
            with suppress(RequestRefused):
                return "continued", await self._open_with_logprobs(prompt, sampling, headers, "continued", stack)
        opened = await self._open_with_logprobs(prompt, sampling, headers, "asked", stack)
        self._continues = False  # what was refused was that, since the rest is taken: it is not tried again
        return "asked", opened

    async def _open_with_logprobs(
        self,
        prompt: Prompt,
        sampling: Sampling,
        headers: Trace,
        resumed: Resumption | None,
        stack: AsyncExitStack,
        count: int = 1,
    ) -> tuple[Host, Chunk, AsyncGenerator[Chunk, None]]:
        """As `_open`, with fewer alternatives, or without log-probabilities, where that is what the hosts refuse."""
        levels = _levels(sampling.logprobs, self._logprobs_taken)
        for place, level in enumerate(levels):
            asked = self._ask(prompt, replace(sampling, logprobs=level), headers, resumed, count)
            try:
                opened = await self._open(asked, stack)
            except RequestRefused:
                if level == levels[-1]:
                    raise
            else:
                if place:
                    self._logprobs_taken = level
                return opened
        raise AssertionError("the last level is opened or raises")

    def _ask(self, prompt: Prompt, sampling: Sampling, headers: Trace, resumed: Resumption | None, count: int) -> Ask:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": list(prompt.messages),
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._paced(sampling.step),
            **sampling.shaping.changed(),
        }
        if count > 1:
            body["n"] = count
        if prompt.template:
            body["chat_template_kwargs"] = dict(prompt.template)
        if sampling.seed is not None:
            body["seed"] = sampling.seed
        if sampling.logprobs is not None:
            body["logprobs"] = True
            if sampling.logprobs:
                body["top_logprobs"] = sampling.logprobs
        constraint = sampling.constraint
        if prompt.written is not None and resumed is not None:
            body |= further(prompt, prompt.written, resumed)
            constraint = prompt.written.request_form if resumed == "asked" else constraint
        if constraint is not None and self._structured_outputs:
            body["structured_outputs"] = {"regex": constraint}
            if prompt.written is not None:
                body["include_reasoning"] = False  # vLLM then applies the expression from the first token on
        if sampling.json_schema is not None:
            body |= _forced_into(sampling.json_schema, structured_outputs=self._structured_outputs)
        sendable = {name: value for name, value in headers.items() if value.isascii() and value.isprintable()}
        content = json.dumps(body).encode()
        return Ask(content, sendable, sampling.max_tokens, len(content), sampling.logprobs is not None, count)

    def _paced(self, step: int | None) -> dict[str, Any]:
        """For fewer events, each of which says how many tokens there are by then: the first one comes at once."""
        if not self._stream_interval or step == 1:
            return {}
        counted = {"include_usage": True, "continuous_usage_stats": True}
        return {"stream_interval": min(step or LONGEST_STEP, LONGEST_STEP), "stream_options": counted}

    async def _open(self, ask: Ask, stack: AsyncExitStack) -> tuple[Host, Chunk, AsyncGenerator[Chunk, None]]:
        """A host, its first chunk that says something, and those after it; failures up to there are tried elsewhere."""
        tried: list[Host] = []
        refused: list[Host] = []
        failures: list[EngineError] = []
        while len(tried) < self._attempts and len(refused) < 2:
            host = choose(self._hosts, tried, ask.choices)
            if host is None or (refused and (host in tried or host.is_unhealthy)):
                break
            patience = self._patience(host, [*tried, host], hurry=bool(refused))
            tried.append(host)
            async with AsyncExitStack() as attempt:
                attempt.enter_context(host.taking(ask.choices))
                try:
                    chunk, rest = await self._start(host, ask, patience, attempt)
                except RequestRefused as error:
                    refused.append(host)
                    failures.append(error)
                    continue
                except EngineError as error:
                    host.failed(error.retry_after if isinstance(error, EngineOverloaded) else None)
                    failures.append(error)
                    continue
                for other in refused:
                    other.disputed()
                await stack.enter_async_context(attempt.pop_all())
                return host, chunk, rest
        raise _worst(failures)

    def _patience(self, host: Host, tried: Sequence[Host], *, hurry: bool) -> float:
        """Seconds to wait for the first text: less where something better than waiting is left."""
        if not hurry and not any(
            each.has_room_for(1) and not each.is_unhealthy for each in self._hosts if each not in tried
        ):
            return self._read_timeout
        return self._first_text_timeout / 3 if host.is_unhealthy else self._first_text_timeout

    async def _start(
        self, host: Host, ask: Ask, patience: float, attempt: AsyncExitStack
    ) -> tuple[Chunk, AsyncGenerator[Chunk, None]]:
        """Wait for text or the end; closing `attempt` closes the connection, which stops the work at the other end."""
        try:
            async with host.patience(patience):
                chunks = await attempt.enter_async_context(chat_stream(host.client, ask, self._read_timeout))
                async for chunk in chunks:
                    if chunk.text or chunk.thought or chunk.logprobs or chunk.finish_reason is not None:
                        host.spoke()
                        return chunk, chunks
        except TimeoutError:
            raise EngineError("no answer from the upstream: nothing came in time") from None
        raise EngineError("the upstream broke off: its stream ended before it began")


def _levels(asked: int | None, taken: int | None) -> list[int | None]:
    """What to ask for, one after the other: alternatives are of no use where they are not told, and cost nothing."""
    if asked is None or taken is None:
        return [None]
    most = min(asked, taken)
    return [most, *([FEW_ALTERNATIVES] if most > FEW_ALTERNATIVES else []), None]


def _forced_into(schema: Mapping[str, Any], *, structured_outputs: bool) -> dict[str, Any]:
    """vLLM's own field where it is taken; OpenAI's, which other hosts know, where not."""
    if structured_outputs:
        return {"structured_outputs": {"json": schema, "disable_any_whitespace": True}}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}}


def _worst(failures: Sequence[EngineError]) -> EngineError:
    for kind in _WORST:
        for failure in failures:
            if isinstance(failure, kind):  # pyright: ignore[reportUnnecessaryIsInstance]  the last kind is their base
                return failure
    return EngineOverloaded("every upstream is at its limit", retry_after=FIRST_REST)
