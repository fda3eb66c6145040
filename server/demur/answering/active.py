"""A resolved request while it is worked on: its deadline runs, and what it costs is counted."""

from collections.abc import Callable

from demur.answering.deadline import Deadline
from demur.answering.resolved_request import ResolvedRequest
from demur.tracing import UNTRACED, Span

CHARS_PER_TOKEN = 4
"""A rough count of a prompt's tokens before anybody has tokenized it."""

SIGNAL_TOKENS = 64
"""More than the question takes that a further call for a signal adds."""


class ActiveRequest:
    """One request in flight. `prompt_tokens` is an estimate until `count_prompt` is told.

    `on_prompt` is called when the prompt is known and nothing has been generated; what it raises ends the request.
    `notices` are what the caller should know besides the answer, such as a limit that was applied.
    `span` is the request in the operator's traces, `caller` tells callers apart.
    """

    def __init__(self, request: ResolvedRequest, span: Span = UNTRACED, caller: str = "") -> None:
        self.request = request
        self.deadline = Deadline(request.timeout)
        self.prompt_tokens = sum(len(message["content"]) for message in request.messages) // CHARS_PER_TOKEN + 1
        self.on_prompt: Callable[[], None] | None = None
        self.span = span
        self.notices: list[str] = []
        self.caller = caller
        self._began = False
        self._completion_tokens = 0

    @property
    def tokens(self) -> int:
        """Tokens that the request has cost so far: the prompt once, and all output, also of samples given up."""
        return self._completion_tokens + (self.prompt_tokens if self._began else 0)

    def count_prompt(self, tokens: int) -> None:
        """Set the prompt's length in tokens, once the engine has made it ready. Raises whatever `on_prompt` raises."""
        self.prompt_tokens = tokens
        if self.on_prompt is not None:
            self.on_prompt()

    def count_samples(self, completion_tokens: int, prompt_tokens: int | None) -> None:
        """Add the output tokens of samples that are over. `prompt_tokens` is the prompt's length where the engine
        counts it, else None."""
        self._began = True
        self._completion_tokens += completion_tokens
        self.prompt_tokens = prompt_tokens or self.prompt_tokens

    def count_signals(self, tokens: int) -> None:
        """Add the tokens that further calls for signals read and wrote."""
        self._completion_tokens += tokens

    def most_tokens(self, choices: int, max_model_len: int | None) -> int:
        """The most tokens that the request may take while it is answered `choices` times: the prompt once, each sample
        in full, and for each call for a signal the prompt and one sample again."""
        longest = self.request.sampling.max_tokens
        if max_model_len is not None:
            longest = min(longest, max_model_len)
        samples = choices * self.request.samples * longest
        again = choices * self.request.signals.calls * (self.prompt_tokens + longest + SIGNAL_TOKENS)
        return self.prompt_tokens + samples + again
