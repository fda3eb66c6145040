"""The Engine port over vLLM's AsyncLLM."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from demur.core.reader import Reader
from demur.engine.base import (
    Chunk,
    EngineError,
    Message,
    Prompt,
    PromptTooLong,
    RequestRefused,
    Sampling,
    TemplateArguments,
    TokenLogprob,
    Trace,
    Written,
)
from demur.engine.vllm.arguments import Seeding, seeding
from demur.engine.vllm.control_tokens import ControlTokens
from demur.engine.vllm.convert import chunk, sampling_params, translated_errors
from demur.engine.vllm.detokenize import TokenTexts, decoded, decodes, pieces
from demur.engine.vllm.outputs import counted
from demur.engine.vllm.process import SILENCE, EngineProcess
from demur.engine.vllm.special_tokens import marks_thought
from demur.engine.vllm.startup import Launched, existing, import_vllm, launch

if TYPE_CHECKING:
    from vllm.outputs import RequestOutput

LONGEST_THOUGHT_TAG = 16
"""Tokens."""
_THOUGHT_TAG = re.compile(r"(<(?:think|thinking)>|\[THINK\]|◁think▷|<\|START_THINKING\|>)\s*\Z", re.IGNORECASE)
Progress = Callable[[str, float], None]
"""Told what is being done, and a rough share of the whole that is done, in [0, 1]."""


class VLLMEngine:
    """One AsyncLLM. Made by `start`; a sample's request inside vLLM lives as long as the generator of `stream`."""

    def __init__(self, launched: Launched, silence: float = SILENCE) -> None:
        self._llm = launched.llm
        self._seeding: Seeding = seeding(self._llm.model_config.logits_processors or ())
        self._process = EngineProcess(launched, silence)

    @classmethod
    async def start(
        cls,
        model: str | Path,
        *,
        constraints: Sequence[str] = (),
        progress: Progress = lambda doing, share: None,
        memory_share: float = 1.0,
        silence: float = SILENCE,
        **engine_args: Any,
    ) -> Self:
        """Load `model`, a folder or a hub id, and answer once; takes from half a minute upwards.

        `engine_args` are vLLM's own (tensor_parallel_size, gpu_memory_utilization, dtype, ...). `constraints` that
        samples will be forced to match are compiled now instead of when the first one comes. `memory_share` leaves
        room for another engine. `silence` is how many seconds its process may go without a reply before it counts as
        dead. The event loop stays free meanwhile. Raises UnknownEngineArgument, ModuleNotFoundError without vLLM, and
        EngineError when the model cannot be loaded; vLLM has then written the cause to standard error.
        """
        name = existing(model)
        progress("importing vLLM", 0.0)
        await asyncio.to_thread(import_vllm)
        progress("loading the model", 0.3)
        engine = cls(await launch(name, engine_args, memory_share), silence)
        progress("warming up", 0.9)
        try:
            await engine._warm_up(constraints)
        except BaseException:
            await engine.close()
            raise
        progress("ready", 1.0)
        return engine

    @property
    def max_model_len(self) -> int:
        return self._llm.model_config.max_model_len

    @property
    def running(self) -> int:
        """Samples that vLLM is generating at the moment, by its own gauge vllm:num_requests_running."""
        from prometheus_client import REGISTRY

        return sum(
            int(sample.value)
            for metric in REGISTRY.collect()
            for sample in metric.samples
            if sample.name == "vllm:num_requests_running"
            and sample.labels["model_name"] == self._llm.model_config.served_model_name
        )

    async def prepare(self, messages: Sequence[Message], template: TemplateArguments | None = None) -> Prompt:
        """Apply the model's chat template in vLLM's own thread. Raises PromptTooLong.

        Raises EngineError when the model has no template or its template refuses the messages.
        """
        from vllm.renderers.params import ChatParams, TokenizeParams

        form = ChatParams(chat_template_kwargs={**(template or {}), "add_generation_prompt": True})
        whole = TokenizeParams(max_total_tokens=None, add_special_tokens=False)
        with translated_errors():
            token_ids = await self._tokenized(messages, form, whole)
        if len(token_ids) >= self.max_model_len:
            raise PromptTooLong(len(token_ids), self.max_model_len)
        return Prompt(tuple(messages), token_ids, thought_tag=self._thought_tag(token_ids), template=template)

    def _thought_tag(self, token_ids: Sequence[int]) -> str:
        """The tag that a prompt ends with where its chat template begins the model's thought."""
        if not self._template_thinks:
            return ""
        try:
            ending = self._controls.text(token_ids[-LONGEST_THOUGHT_TAG:])
        except ValueError:  # a tokenizer that is written in Python
            return ""
        return found[1] if (found := _THOUGHT_TAG.search(ending)) else ""

    @cached_property
    def _template_thinks(self) -> bool:
        template: Any = getattr(self._llm.get_tokenizer(), "chat_template", None)
        return "think" in str(template).lower()

    async def _tokenized(self, messages: Sequence[Message], template: Any, whole: Any) -> tuple[int, ...]:
        """Control tokens come from the chat template alone; what a user types is text: see `control_tokens`."""
        renderer: Any = self._llm.renderer
        if (marked := self._controls.take_out(messages)) is None:
            _, [prompt] = await renderer.render_chat_async([list(messages)], template, whole)
            return tuple(prompt["prompt_token_ids"])
        as_text = replace(template, chat_template_kwargs=template.chat_template_kwargs | {"tokenize": False})
        _, rendered = await renderer.render_messages_async(list(marked.messages), as_text)
        return tuple(await asyncio.to_thread(self._controls.encode, rendered.get("prompt"), marked))

    @cached_property
    def _shows_special(self) -> bool:
        return marks_thought(self._llm.get_tokenizer())

    @cached_property
    def _controls(self) -> ControlTokens:
        return ControlTokens(self._llm.get_tokenizer())

    async def stream(
        self, prompt: Prompt, sampling: Sampling, *, request_id: str, trace: Trace | None = None
    ) -> AsyncGenerator[Chunk, None]:
        """One sample; see Engine. `max_tokens` beyond the model's context ends it with "length" there.

        A reply so far is continued by its token ids: going through the chat template again might not keep them.
        """
        from vllm.inputs import tokens_input

        token_ids = prompt.token_ids or (await self.prepare(prompt.messages)).token_ids or ()
        written, opening = (), ()
        is_forced = sampling.constraint is not None or sampling.json_schema is not None
        if prompt.written is not None:
            written, opening = self._so_far(prompt.written)
            if len(opening) >= min(sampling.max_tokens, self.max_model_len - len(token_ids) - len(written)):
                raise RequestRefused("there is no room for the rest of this reply")
            text = prompt.written.closing + prompt.written.opening
            yield Chunk(text, opening, None, len(token_ids), len(opening), resumed="continued")
        elif prompt.thought_tag and is_forced:
            token_ids = (*token_ids, *self._controls.tokens(f"\n{_end_of(prompt.thought_tag)}\n\n"))
        elif prompt.thought_tag:
            told = () if sampling.logprobs is None else (TokenLogprob(prompt.thought_tag.encode(), 0.0),)
            yield Chunk(prompt.thought_tag, prompt_tokens=len(token_ids), completion_tokens=0, logprobs=told)
        completion_tokens = len(opening)
        with translated_errors():
            asked = tokens_input([*token_ids, *written, *opening])
            room = replace(sampling, max_tokens=max(sampling.max_tokens - len(opening), 1))
            # A whole output is decoded once, in place of each token by itself.
            at_once = sampling.step is None and sampling.logprobs is None and decodes(self._llm.get_tokenizer())
            params = sampling_params(
                self._within_limits(room), self._seeding, shows_special=self._shows_special, detokenize=not at_once
            )
            texts = None if sampling.logprobs is None else self._texts([*token_ids, *written, *opening])
            # A reasoning parser would hold the constraint back until a thought has ended: here none is open any more,
            # and a form that is forced leaves no room for one.
            ended = True if is_forced or prompt.written is not None else None
            outputs = self._llm.generate(asked, params, request_id, trace_headers=trace, reasoning_ended=ended)
            if sampling.untold is not None:
                outputs = counted(self._llm, outputs, request_id, sampling.untold)
            async with aclosing(outputs):
                async for output in outputs:
                    text = self._text(asked["prompt_token_ids"], output) if at_once else None
                    piece = chunk(output, len(token_ids), completion_tokens, texts, text)
                    completion_tokens += len(piece.token_ids)
                    yield piece

    def _text(self, prompt: Sequence[int], output: "RequestOutput") -> str:
        """As vLLM writes it: without the token that ended the sample."""
        [piece] = output.outputs
        said = piece.token_ids[:-1] if piece.finish_reason == "stop" else piece.token_ids
        return decoded(self._llm.get_tokenizer(), prompt, said, shows_special=self._shows_special)

    def _so_far(self, written: Written) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The tokens of a reply so far, and of what is put behind it. A thought's end tag may be a token of its own.

        Raises RequestRefused for a tokenizer that is written in Python.
        """
        try:
            said = written.token_ids or self._controls.tokens(written.text)
            return said, self._controls.tokens(written.closing + written.opening)
        except ValueError as error:
            raise RequestRefused(str(error)) from None

    def _within_limits(self, sampling: Sampling) -> Sampling:
        """vLLM refuses to tell more alternatives than its operator allows (`--max-logprobs`, -1 for any number)."""
        asked, most = sampling.logprobs, self._llm.model_config.max_logprobs
        return sampling if asked is None or most < 0 else replace(sampling, logprobs=min(asked, most))

    def _texts(self, prompt: Sequence[int]) -> TokenTexts | None:
        """None for a tokenizer that cannot tell them, whose log-probabilities then belong to no text."""
        try:
            return TokenTexts(self._llm.get_tokenizer(), prompt, shows_special=self._shows_special)
        except EngineError:
            return None

    def pieces(self, prompt: Prompt, token_ids: Sequence[int]) -> list[str]:
        """The text that each token adds, as vLLM writes it while it streams. Raises EngineError for a model without a
        fast tokenizer."""
        before, shows_special = prompt.token_ids or (), self._shows_special
        return pieces(self._llm.get_tokenizer(), before, token_ids, shows_special=shows_special)

    async def check(self) -> None:
        """Raises EngineDead when the engine process is gone, or has not replied for too long."""
        await self._process.check()

    async def close(self) -> None:
        """End the child processes; takes a few seconds. Streams still open raise EngineDead."""
        await self._process.close()

    async def _warm_up(self, constraints: Sequence[str]) -> None:
        prompt = await self.prepare([Message(role="user", content="Hello")])
        for number, constraint in enumerate([None, *constraints]):
            sampling = Sampling(max_tokens=1, temperature=0.0, constraint=constraint)
            async with aclosing(self.stream(prompt, sampling, request_id=f"warm-up-{number}")) as chunks:
                async for _ in chunks:
                    pass


def _end_of(thought_tag: str) -> str:
    reader = Reader("response")
    reader.feed(thought_tag)
    reader.close()
    return reader.thought_end
