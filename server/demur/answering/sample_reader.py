"""One sample as it is read: chunks in; visible text and claims out, and in the end a completion."""

from dataclasses import replace
from typing import Literal

from demur.answering.confidence import Score
from demur.answering.doubt import checked
from demur.answering.errors import SampleLost
from demur.answering.resolved_request import ResolvedRequest
from demur.answering.tail_forcing import Settlement
from demur.core.answers import Completion
from demur.core.parsing import Event
from demur.core.reader import Reader
from demur.engine.base import Chunk, FinishReason, TokenLogprob, Untold

Ending = Literal["stop", "length"]


class SampleReader:
    """Reads one sample's output leniently: a served model may be one that nobody trained here."""

    def __init__(self, request: ResolvedRequest) -> None:
        self._reader = Reader(request.contract.name, "lenient", aggregation=request.aggregation, labels=request.labels)
        self._schema = request.schema
        self._raw: list[str] = []
        self._finish_reason: FinishReason | None = None
        self.prompt_tokens: int | None = None
        self.completion_tokens: int | None = None
        self.chunks = 0
        self._last_step = self._untold = 0
        self.token_ids: list[int] = []
        self.logprobs: list[TokenLogprob] = []
        self.score: Score | None = None
        self.settled: Settlement | None = None
        self._as_read: Completion | None = None
        self._completion: Completion | None = None

    @property
    def raw(self) -> str:
        """The output as it was."""
        return "".join(self._raw)

    @property
    def tokens(self) -> int:
        """Tokens so far; where the engine does not count them, chunks."""
        return self.chunks if self.completion_tokens is None else self.completion_tokens

    @property
    def tokens_past_decision(self) -> int:
        """Tokens after the first of the last chunk, at which a sample that is stopped may have shown enough."""
        return max(self._last_step - 1, 0) + self._untold

    @property
    def ending(self) -> Ending:
        """How the sample ended. Raises SampleLost when it did not."""
        if self._finish_reason is None or self._finish_reason == "abort":
            raise SampleLost("the engine gave up on this sample")
        return self._finish_reason

    @property
    def completion(self) -> Completion:
        """What was read, once the sample is closed."""
        if self._completion is None:
            raise RuntimeError("this sample is still being read")
        return self._completion

    @property
    def as_read(self) -> Completion:
        """The same with the confidence that the output states, also where a score took its place."""
        return self.completion if self._as_read is None else self._as_read

    @property
    def running_confidence(self) -> float | None:
        """Claims: the aggregate of those closed so far."""
        return self._reader.running_confidence

    def take(self, piece: Chunk | Score | Settlement) -> list[Event]:
        """The next chunk, or after the last one the sample's score: nothing of that is shown before the decision."""
        if isinstance(piece, Score):
            self.score = piece
            return []
        if isinstance(piece, Settlement):
            self.settled = piece
            return []
        return self._read(piece)

    def close(self) -> list[Event]:
        """The last events; `completion` is there from then on. Raises SampleLost when the engine did not finish.

        A score, where there is one by now, takes the place of the confidence that was read.
        """
        _ = self.ending
        events, self._completion = self._reader.close()
        if self._schema is not None:
            self._completion = checked(self._completion, self._schema)
        if self.score is not None:
            confidence, self._as_read = self.score.signal, self._completion
            self._completion = replace(self._completion, confidence=confidence.value, state=confidence.state)
        return events

    def count_untold(self, untold: Untold) -> None:
        """The sample was stopped, and so much had been generated that is in no chunk."""
        self._untold += untold.tokens + untold.pieces
        self.chunks += untold.pieces
        if untold.tokens:
            self.completion_tokens = (self.completion_tokens or 0) + untold.tokens

    def cut(self) -> None:
        """Read what there is of a sample that was stopped."""
        _, self._completion = self._reader.close()

    def _read(self, chunk: Chunk) -> list[Event]:
        self.chunks += chunk.pieces
        self._raw.append(chunk.text)
        self._last_step = self._tokens_in(chunk)
        self.token_ids += chunk.token_ids
        self.logprobs += chunk.logprobs
        self._finish_reason = chunk.finish_reason or self._finish_reason
        self.prompt_tokens = chunk.prompt_tokens or self.prompt_tokens
        self.completion_tokens = chunk.completion_tokens or self.completion_tokens
        return self._reader.feed(chunk.text)

    def _tokens_in(self, chunk: Chunk) -> int:
        """By the totals; where these are unknown each piece is one."""
        if chunk.completion_tokens is None:
            return chunk.pieces
        return max(chunk.completion_tokens - (self.completion_tokens or 0), 0)
