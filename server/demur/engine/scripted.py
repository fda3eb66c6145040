"""The fake that ships: an engine whose samples come from a script, for tests, demos and load without a model."""

import asyncio
import re
from bisect import bisect_right
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from math import log

from demur.core.reader import detect_contract, read
from demur.engine.base import (
    Chunk,
    EngineDead,
    EngineError,
    FinishReason,
    Message,
    Prompt,
    PromptTooLong,
    Resumption,
    Sampling,
    TemplateArguments,
    TokenLogprob,
    Trace,
    Written,
)
from demur.engine.demo import demo_answer
from demur.engine.demo_json import demo_document
from demur.engine.holding import held_back
from demur.engine.resuming import put_behind
from demur.prompts import asks_if_right

_WORD = re.compile(r"\s*\S+")
LIKELY = -0.125
"""The log-probability of a word of which the script says nothing."""


class Gate:
    """Holds a sample between two chunks. Any thread may wait for it or open it."""

    def __init__(self) -> None:
        self._reached: Future[None] = Future()
        self._opened: Future[None] = Future()

    def wait_reached(self, timeout: float = 10.0) -> None:
        """Block until a sample stands at the gate. Raises TimeoutError after `timeout` seconds."""
        self._reached.result(timeout)

    def open(self) -> None:
        if not self._opened.done():
            self._opened.set_result(None)

    def arrive(self) -> asyncio.Future[None]:
        """Called by a sample: a future of its own loop that is done once the gate is open."""
        if not self._reached.done():
            self._reached.set_result(None)
        return asyncio.wrap_future(self._opened)


@dataclass(frozen=True, slots=True)
class Script:
    """What one prompt is answered with.

    Sample i gets `texts[i % len(texts)]`. `gates` maps a number of chunks to the gate that stands after them.
    `error` is raised after `error_after` chunks. `delay` is the pause before each chunk in seconds. `logprobs` maps
    words to their log-probabilities, for whoever asks; all others have LIKELY. None tells none, as some hosts do.
    `alternatives` are the likeliest first words with their log-probabilities. `tail` is what a sample that is continued
    goes on with, in the way that the tail's `resumed` says; without one it just ends. A tail of that is its last one.
    """

    texts: Sequence[str]
    finish_reason: FinishReason = "stop"
    gates: Mapping[int, Gate] = field(default_factory=dict[int, Gate])
    error: EngineError | None = None
    error_after: int = 0
    delay: float = 0.0
    logprobs: Mapping[str, float] | None = field(default_factory=dict[str, float])
    alternatives: Mapping[str, float] = field(default_factory=dict[str, float])
    tail: "Script | None" = None
    resumed: Resumption = "continued"

    def logprobs_of(self, words: Sequence[str], *, first: bool, ended: bool) -> tuple[TokenLogprob, ...]:
        """One for each word, and one for the end."""
        if self.logprobs is None:
            return ()
        alternatives = tuple(self.alternatives.items()) if first else ()
        found = [
            TokenLogprob(word.encode(errors="surrogatepass"), self.logprobs.get(word.strip(), LIKELY), alternatives)
            for word in words
        ]
        return tuple([*found, TokenLogprob(b"", LIKELY)] if ended else found)


_NO_TAIL = Script([""])


@dataclass(frozen=True, slots=True)
class Drawn:
    """A sample that was asked for, as the engine saw it; `written` is the reply that it was to continue, `template`
    what else the chat template took."""

    request_id: str
    messages: tuple[Message, ...]
    sampling: Sampling
    trace: Trace = field(default_factory=dict[str, str])
    written: Written | None = None
    template: TemplateArguments | None = None


Answers = str | Sequence[str] | Script
Source = Mapping[str, Answers] | Callable[[Sequence[Message]], Answers]


END = 0
"""The token after a text that came to its end."""
_MARK = b"\xff" * 4
"""What the number of a word's token begins with, so that it is none of the small numbers that prompts are made of."""


def token_of(piece: str) -> int:
    """The token of a word with the space before it: its bytes as one number, so that no vocabulary is needed."""
    return int.from_bytes(_MARK + piece.encode(errors="surrogatepass"), "big")


def piece_of(token: int) -> str:
    """The text of a token; a number that is no token of a word, such as END, has none."""
    marked = token.to_bytes((token.bit_length() + 7) // 8, "big")
    return marked.removeprefix(_MARK).decode(errors="surrogatepass") if marked.startswith(_MARK) else ""


def words(text: str) -> list[str]:
    """The chunks of a text: one word each, with the space before it. They join to the text."""
    chunks = _WORD.findall(text)
    rest = text[sum(map(len, chunks)) :]
    return [*chunks, rest] if rest else chunks


class ScriptedEngine:
    """Implements `Engine`. A token is a word; a text that stops ends with the token END, which is not counted.

    `source` maps a piece of the last message to its answers (the longest piece found in it wins; the demo answers
    what no piece fits), or computes them from the messages. `chunker` splits a text into chunks. `delay` is the
    pause before each chunk in seconds. `running`, `drawn` and `cancelled` show what the engine was asked to do.
    """

    def __init__(
        self,
        source: Source = demo_answer,
        *,
        chunker: Callable[[str], Iterable[str]] = words,
        delay: float = 0.0,
        max_model_len: int = 4096,
    ) -> None:
        self._source = source
        self._chunker = chunker
        self._delay = delay
        self._max_model_len = max_model_len
        self._died: EngineDead | None = None
        self._waiting: set[asyncio.Future[None]] = set()
        self.running = 0
        self.drawn: deque[Drawn] = deque(maxlen=1000)
        self.cancelled: deque[str] = deque(maxlen=1000)

    @property
    def max_model_len(self) -> int:
        return self._max_model_len

    async def prepare(self, messages: Sequence[Message], template: TemplateArguments | None = None) -> Prompt:
        count = sum(len(_WORD.findall(message["content"])) for message in messages)
        if count >= self._max_model_len:
            raise PromptTooLong(count, self._max_model_len)
        return Prompt(tuple(messages), tuple(range(count)), template=template)

    async def stream(
        self, prompt: Prompt, sampling: Sampling, *, request_id: str, trace: Trace | None = None
    ) -> AsyncGenerator[Chunk, None]:
        self.drawn.append(Drawn(request_id, prompt.messages, sampling, trace or {}, prompt.written, prompt.template))
        script = self._script(prompt.messages, sampling)
        finished = False
        self.running += 1
        try:
            played = self._play if prompt.written is None else self._go_on
            pieces = played(script, prompt, sampling, request_id)
            async with aclosing(pieces if sampling.step == 1 else held_back(pieces, sampling)) as chunks:
                async for chunk in chunks:
                    finished = chunk.finish_reason is not None
                    yield chunk
        except EngineError:
            finished = True
            raise
        finally:
            self.running -= 1
            if not finished:
                self.cancelled.append(request_id)

    def pieces(self, prompt: Prompt, token_ids: Sequence[int]) -> list[str]:
        """What each token adds to the text, but for space after the last word."""
        return [piece_of(token) for token in token_ids]

    async def check(self) -> None:
        if self._died is not None:
            raise self._died

    async def close(self) -> None:
        self.die("the scripted engine was closed")

    def die(self, message: str = "the scripted engine was told to die") -> None:
        """Every sample in flight and every later call raises EngineDead. Any thread may call this."""
        self._died = EngineDead(message)
        for waiter in list(self._waiting):
            waiter.get_loop().call_soon_threadsafe(_wake, waiter)

    def _script(self, messages: Sequence[Message], sampling: Sampling) -> Script:
        answers = self._find(messages, sampling)
        if isinstance(answers, Script):
            return answers
        return Script([answers] if isinstance(answers, str) else answers)

    def _find(self, messages: Sequence[Message], sampling: Sampling) -> Answers:
        if asks_if_right(messages) and self._source is demo_answer:
            return _judged(messages[-2]["content"])
        if callable(self._source) and not (self._source is demo_answer and sampling.json_schema is not None):
            return self._source(messages)
        asked = messages[-1]["content"]
        scripts = dict[str, Answers]() if callable(self._source) else self._source
        if fitting := [piece for piece in scripts if piece in asked]:
            return scripts[max(fitting, key=len)]
        return demo_answer(messages) if sampling.json_schema is None else demo_document(sampling.json_schema, asked)

    async def _play(
        self, script: Script, prompt: Prompt, sampling: Sampling, request_id: str
    ) -> AsyncGenerator[Chunk, None]:
        text = script.texts[_sample_index(request_id) % len(script.texts)]
        found = list(_WORD.finditer(text))
        cut = len(found) > sampling.max_tokens
        if cut:
            found = found[: sampling.max_tokens]
            text = text[: found[-1].end()]
        written, word_ends = [word[0] for word in found], [word.end() for word in found]
        chunks, shown, tokens = list(self._chunker(text)) or [""], 0, 0
        ending: FinishReason | None = "length" if cut else script.finish_reason
        for i, piece in enumerate(chunks):
            await self._pace(script, i)
            shown += len(piece)
            last = i == len(chunks) - 1 and script.error is None
            before, tokens = tokens, bisect_right(word_ends, shown)
            new, ended = written[before:tokens], last and ending == "stop"
            told = () if sampling.logprobs is None else script.logprobs_of(new, first=before == 0, ended=ended)
            yield Chunk(
                piece,
                (*map(token_of, new), *([END] if ended else [])),
                ending if last else None,
                prompt_tokens=len(prompt.token_ids or ()),
                completion_tokens=tokens,
                logprobs=told,
            )
        await self._pace(script, max(len(chunks), script.error_after))

    async def _go_on(
        self, script: Script, prompt: Prompt, sampling: Sampling, request_id: str
    ) -> AsyncGenerator[Chunk, None]:
        """The tail, behind what was put after the reply so far."""
        tail, written = script.tail or _NO_TAIL, prompt.written or Written("")
        if "-last-tail-" in request_id:
            tail = tail.tail or _NO_TAIL
        opening = put_behind(written, tail.resumed)
        ids = [token_of(word) for word in _WORD.findall(opening)]
        first = Chunk(opening, tuple(ids), None, len(prompt.token_ids or ()), len(ids), resumed=tail.resumed)
        room = replace(sampling, max_tokens=max(sampling.max_tokens - len(ids), 1))
        async with aclosing(self._play(tail, prompt, room, request_id)) as chunks:
            async for chunk in chunks:
                if first is not None:
                    yield first
                    first = None
                yield replace(chunk, completion_tokens=len(ids) + (chunk.completion_tokens or 0))

    async def _pace(self, script: Script, chunks_out: int) -> None:
        """Wait as the script says, then raise what it says."""
        gate, delay = script.gates.get(chunks_out), script.delay or self._delay
        if gate is not None:
            await self._wait_unless_dead(gate.arrive())
        elif delay:
            await self._wait_unless_dead(None, seconds=delay)
        else:
            await asyncio.sleep(0)
        await self.check()
        if script.error is not None and chunks_out >= script.error_after:
            if isinstance(script.error, EngineDead):
                self.die(str(script.error))
            raise script.error

    async def _wait_unless_dead(self, step: asyncio.Future[None] | None, seconds: float | None = None) -> None:
        dead = asyncio.get_running_loop().create_future()
        self._waiting.add(dead)
        try:
            await self.check()
            waits = {dead} if step is None else {dead, step}
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waiting.discard(dead)


def _judged(output: str) -> Script:
    """The demo thinks as well of its answers as it says."""
    stated = read(output, detect_contract(output)).confidence
    p = min(max(0.5 if stated is None else stated, 0.01), 0.99)
    return Script(["Yes" if p >= 0.5 else "No"], alternatives={"Yes": log(p), "No": log(1 - p)})


def _wake(waiter: asyncio.Future[None]) -> None:
    with suppress(asyncio.InvalidStateError):
        waiter.set_result(None)


def _sample_index(request_id: str) -> int:
    """The number after the last dash: which of a request's samples this is."""
    tail = request_id.rpartition("-")[2]
    return int(tail) if tail.isdecimal() else 0
