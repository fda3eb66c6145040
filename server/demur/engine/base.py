"""The interface to whatever runs the model: chat messages and sampling settings in, a cancellable stream of chunks out.
`demur.serving.engine_loaders` lists the engines that a server can be started with."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypedDict, runtime_checkable

from demur.engine.shaping import UNSHAPED, LogitShaping

Trace = Mapping[str, str]
"""W3C headers: `traceparent`, and `tracestate` where there is one."""
FinishReason = Literal["stop", "length", "abort"]
TemplateArguments = Mapping[str, Any]
"""What a chat template takes besides the messages, such as `enable_thinking`."""
Resumption = Literal["continued", "asked"]
"""How a stream goes on with a reply so far: with its own tokens, or in a further turn that asks for the rest."""
MOST_TOKENS = 10**9
"""A count of tokens beyond it is nonsense, and would spoil metrics and budgets for good."""


class Message(TypedDict):
    """One chat message; the engine applies the model's own chat template to a list of them."""

    role: str
    content: str


@dataclass(slots=True)
class Untold:
    """Tokens of one sample that were generated and are in no chunk, because reading stopped before they came.

    The engine writes it when a stream is closed or cancelled. One that never holds chunks back may leave it alone; one
    that does not count tokens adds to `pieces` instead, how many chunks these would have been.
    """

    tokens: int = 0
    pieces: int = 0


@dataclass(frozen=True, slots=True)
class Sampling:
    """How one sample is drawn. `constraint` is a regular expression the output is forced to match, where the
    engine can do that. `json_schema` is a JSON Schema that it is forced into instead, written without line breaks.

    `logprobs` asks for the log-probability of each token, with up to that many of the likeliest tokens beside it; None
    asks for nothing and costs nothing.

    `step` is how many tokens may come before the next chunk has to be given out: 1 to have each as soon as it can be,
    None where nobody looks before the end. It changes nothing about what is drawn, and an engine may give out more
    often. What is cut short then is counted in `untold`.
    """

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None
    constraint: str | None = None
    json_schema: Mapping[str, Any] | None = None
    shaping: LogitShaping = UNSHAPED
    logprobs: int | None = None
    step: int | None = field(default=1, compare=False)
    untold: Untold | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token that was drawn: the UTF-8 bytes that it adds to the text, and its natural log-probability (<= 0).

    It is the model's own, before temperature, nucleus and penalties. A character may be spread over several tokens:
    where an engine does not tell its bytes apart, the last of them has all and those before it none. `alternatives` are
    the likeliest tokens at this place as (text, log-probability), the token itself among them.
    """

    text: bytes
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """A reply so far, which the next stream goes on with.

    `text` and `token_ids` are the generator's own, the ids without an end token and empty where the engine tells none;
    `thought` is what the engine kept apart. The model goes on behind `closing`, which ends a private thought that is
    still open, and `opening`. An engine that cannot do that asks for `request` in a further turn, and forces the reply
    to match `request_form` where it can, behind `asked_closing`, which ends what is open in the reply.
    """

    text: str
    token_ids: tuple[int, ...] = ()
    thought: str = ""
    closing: str = ""
    opening: str = ""
    request: str = ""
    request_form: str | None = None
    asked_closing: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Messages made ready for one engine. `token_ids` is None where the engine does not tokenize here; `template` is
    what else the chat template takes.

    With `written` a stream continues that reply. The prefix is the same, so that a prefix cache pays for most of it.
    `thought_tag` is what a chat template ends with that opens a private thought itself, `<think>`: a stream begins with
    it, or nobody could tell a thought that was cut off from an answer.
    """

    messages: tuple[Message, ...]
    token_ids: tuple[int, ...] | None = None
    written: Written | None = None
    thought_tag: str = ""
    template: TemplateArguments | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one sample. The last one carries the finish reason.

    `token_ids` are the generator's own, empty where the engine has none: a sample that stopped by itself ends with its
    end token. `prompt_tokens` and `completion_tokens` are totals so far, None where unknown, and `cached_tokens` of the
    prompt were in a prefix cache; what a reply had before it was continued is in none of them. `logprobs` has one entry
    for each token, or none where the engine was not asked or does not tell them. `thought` is private thought that the
    engine keeps apart from the text. `resumed` is on the first chunk of a stream that goes on with a reply; its text is
    what was put behind that reply. `pieces` is how many chunks it would have been, had none been held back: about one
    for each token where these are not counted. `choice` tells samples apart that an engine draws in one request, before
    each goes its own way. Raises EngineError for counts that are no whole numbers in [0, 10**9].
    """

    text: str
    token_ids: tuple[int, ...] = ()
    finish_reason: FinishReason | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    logprobs: tuple[TokenLogprob, ...] = ()
    cached_tokens: int | None = None
    thought: str = ""
    resumed: Resumption | None = None
    pieces: int = 1
    choice: int = 0

    def __post_init__(self) -> None:
        for count in (self.prompt_tokens, self.completion_tokens, self.cached_tokens):
            if count is not None and not (type(count) is int and 0 <= count <= MOST_TOKENS):
                raise EngineError("the engine counts tokens that cannot be")


class EngineError(Exception):
    """Something behind the port failed.

    EngineError
    ├── PromptTooLong       the caller's fault: the prompt leaves no room to answer
    ├── RequestRefused      this prompt with these settings is not taken, now or later
    ├── EngineOverloaded    try again later, `retry_after` seconds if known
    ├── EngineRestarting    the engine died and is being started again
    └── EngineDead          nothing will work until the process is restarted
    """


class PromptTooLong(EngineError):
    """The prompt alone fills the model's context. Carries both lengths in tokens."""

    def __init__(self, prompt_tokens: int, max_model_len: int) -> None:
        super().__init__(f"the prompt has {prompt_tokens} tokens; the model takes {max_model_len} in all")
        self.prompt_tokens = prompt_tokens
        self.max_model_len = max_model_len


class RequestRefused(EngineError):
    """What stands behind the port finds the request itself wrong: trying again does not help.

    `param` names the request field at fault where it is known; the message is then fit for the caller.
    """

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


class EngineOverloaded(EngineError):
    """The engine refuses work for now."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EngineRestarting(EngineError):
    """The engine died while it worked on this request, and is being started again."""

    def __init__(self, message: str = "the engine is being started again") -> None:
        super().__init__(message)


class EngineDead(EngineError):
    """The engine is gone and does not come back by itself."""


class Engine(Protocol):
    """A model that answers one prompt with one sample at a time; call `stream` k times for k samples, or `streams`
    where it is a `ParallelSampling`."""

    @property
    def max_model_len(self) -> int | None:
        """The context length: prompt and completion together, in tokens; None where the engine does not know."""
        ...

    async def prepare(self, messages: Sequence[Message], template: TemplateArguments | None = None) -> Prompt:
        """Apply the model's chat template once, with arguments of its own where there are some.

        Raises PromptTooLong.
        """
        ...

    def stream(
        self, prompt: Prompt, sampling: Sampling, *, request_id: str, trace: Trace | None = None
    ) -> AsyncGenerator[Chunk, None]:
        """One sample, or the rest of the one that the prompt has `written`.

        Closing the generator, or cancelling the task that reads it, stops the work in the engine. `trace` is
        passed on to whatever can be traced behind the port.

        Raises EngineDead, EngineRestarting, EngineOverloaded, or EngineError for anything else behind the port.
        """
        ...

    async def check(self) -> None:
        """Return when the engine can take work; raise EngineDead, EngineRestarting or EngineOverloaded otherwise."""
        ...

    async def close(self) -> None:
        """Stop the engine and free what it holds."""
        ...


@runtime_checkable
class ParallelSampling(Protocol):
    """An engine that can draw several samples of one prompt as one request, as `n` of OpenAI's API does."""

    def streams(
        self, prompt: Prompt, samplings: Sequence[Sampling], *, request_ids: Sequence[str], trace: Trace | None = None
    ) -> Sequence[AsyncGenerator[Chunk, None]]:
        """One sample for each of `samplings`, as `Engine.stream` gives it; all are to be read at the same time."""
        ...
