"""Constrained (guided) decoding of the tail alone: a model answers in its own way, and where that does not end in a
readable answer, the same tokens are continued with nothing but the last lines constrained. `sampler` carries it out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from demur.core.answer_span import OutputForm
from demur.core.answers import Completion
from demur.core.contracts import Contract, Draft, Tail
from demur.core.reader import Reader
from demur.engine.base import Chunk, FinishReason, Resumption, Sampling, TokenLogprob, Written

Forced = Literal["tail", "always", "never"]
"""What of an output is forced into the form of its contract."""
LEAST_TAIL = 8
"""Tokens; no tail comes to its end in less."""
LEAST_LAST_TAIL = 24
"""Tokens; one that ends an open step first needs that much."""
CLOSES_ANYTHING = "</think>"
"""Behind it final text begins, whatever stood before: the last resort where a model wrote on for somebody else."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """A sample did not end in a readable answer, so that its last lines were forced: `settled` in a reply.

    `by` says how: its own tokens were `continued`, or it was `asked` in a further turn. `after` is how it had ended
    before: by itself (`stop`), or cut at its share of `max_tokens` (`length`), so that its reasoning may lack its end.
    """

    by: Resumption
    after: Literal["stop", "length"]


def constraint_of(contract: Contract, forced: Forced) -> str | None:
    """What a whole output has to match; a contract without tails is forced as a whole where only tails should be."""
    return contract.pattern if forced == "always" or (forced == "tail" and contract.tails is None) else None


@dataclass(slots=True)
class FreeReply:
    """What a model wrote of a sample: in its own way, and then as the tails that its reply is continued with.

    `finish` and `ending` are of the part that was drawn last, `tokens` those of all parts: chunks where the engine does
    not count.
    """

    finish: FinishReason | None = None
    tails: int = 0
    token_ids: list[int] = field(default_factory=list[int])
    ending: list[tuple[Chunk, Chunk]] = field(default_factory=list[tuple[Chunk, Chunk]])
    _before: int = 0
    _counted: int | None = None
    _chunks: int = 0
    _counts: bool = True
    _text: list[str] = field(default_factory=list[str])
    _thought: list[str] = field(default_factory=list[str])

    def take(self, chunk: Chunk) -> Chunk | None:
        """The chunk to pass on. None for the last one of a part, of which `last` says how it is passed on."""
        kept = _without_end(chunk) if chunk.finish_reason == "stop" else replace(chunk, finish_reason=None)
        self.finish = chunk.finish_reason or self.finish
        self._counted = self._counted if chunk.completion_tokens is None else chunk.completion_tokens
        self._chunks += chunk.pieces
        self.token_ids += kept.token_ids
        self._text.append(chunk.text)
        self._thought.append(chunk.thought)
        if self.finish is None:
            return self._in_all(chunk)
        self.ending.append((self._in_all(chunk), self._in_all(kept)))
        return None

    def last(self, *, goes_on: bool) -> list[Chunk]:
        """The end of a part: if it `goes_on` the sample has not ended, and the end token goes."""
        return [kept if goes_on else ended for ended, kept in self.ending]

    def begin_tail(self) -> None:
        """What is taken from now on continues what there is."""
        if not self.tails:
            self._counts = self._counted is not None
        self._before = self.tokens
        self.tails += 1
        self.finish, self._counted, self._chunks = None, None, 0
        self.ending.clear()

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def thought(self) -> str:
        """What the engine kept apart."""
        return "".join(self._thought)

    @property
    def tokens(self) -> int:
        return self._before + (self._chunks if self._counted is None else self._counted)

    def _in_all(self, chunk: Chunk) -> Chunk:
        """A chunk counted from the sample's beginning. What a prompt with a part of the reply in it cost is no part of
        the sample's prompt."""
        if not self.tails:
            return chunk
        tokens = self.tokens if self._counts else None
        return replace(chunk, completion_tokens=tokens, prompt_tokens=None, cached_tokens=None)


def not_drawn(text: str) -> tuple[TokenLogprob, ...]:
    """What stands for text that nobody drew among the log-probabilities of tokens that somebody did."""
    return (TokenLogprob(text.encode(errors="surrogatepass"), 0.0),) if text else ()


def _without_end(chunk: Chunk) -> Chunk:
    """The last chunk of a sample that stopped by itself, as if it went on."""
    logprobs = chunk.logprobs
    if logprobs and not (logprobs[-1].text and chunk.text.encode(errors="surrogatepass").endswith(logprobs[-1].text)):
        logprobs = logprobs[:-1]
    return replace(chunk, finish_reason=None, token_ids=chunk.token_ids[:-1], logprobs=logprobs)


@dataclass(frozen=True, slots=True)
class PlannedTail:
    """How a sample is continued."""

    written: Written
    sampling: Sampling


@dataclass(frozen=True, slots=True)
class TailForcer:
    """Plans the tails of one request's samples, each read as the reply will be read."""

    form: OutputForm

    def free_sampling(self, sampling: Sampling) -> Sampling:
        """The settings of what is written freely: some of the tokens are kept for a tail, at most half of them."""
        kept = min(self.form.contract.tail_tokens, sampling.max_tokens // 2)
        kept = kept if kept >= LEAST_TAIL else 0
        return replace(sampling, max_tokens=sampling.max_tokens - kept, constraint=None)

    def plan(self, free: FreeReply, sampling: Sampling) -> PlannedTail | None:
        """The shortest tail with which the sample can be read; None where it can be already, or too little is left
        of its `max_tokens`. A tail that has no end of its own may be followed by a last one, for which tokens are kept.
        Tails are drawn greedily: what is doubtful has been drawn."""
        left, contract = sampling.max_tokens - free.tokens, self.form.contract
        tails_of = (contract.tails, contract.last_tails)[free.tails] if free.tails < 2 else None
        ends = ("length",) if free.tails else ("stop", "length")
        if free.finish not in ends or left < LEAST_TAIL or tails_of is None:
            return None
        draft, closing = self._draft(free)
        if not (tails := tails_of(draft)):
            return None
        tail, closing = self._fitting(tails, free.text, closing)
        thinks_first = bool(free.thought)  # and a host that is asked in a further turn may let it
        limit = contract.last_tail_tokens if free.tails else contract.most_tail_tokens
        most = left if free.tails else left - self._kept_for_last(left)
        if limit is not None and not thinks_first:
            most = min(most, limit)
        drawn = replace(sampling, max_tokens=most, temperature=0.0, top_p=1.0, seed=None, constraint=tail.pattern)
        return PlannedTail(_written(free, tail, closing), drawn)

    def _kept_for_last(self, left: int) -> int:
        """Tokens, half of what is left at most."""
        if self.form.contract.last_tails is None:
            return 0
        kept = min(self.form.contract.last_tail_tokens, left // 2)
        return kept if kept >= LEAST_LAST_TAIL else 0

    def _draft(self, free: FreeReply) -> tuple[Draft, str]:
        """What was written of the final text, and what ends a thought that is still open: then that is nothing yet."""
        reader, cut = self._read(free.text), free.finish == "length"
        completion, thought_end = reader.close()[1], reader.thought_end
        if not thought_end:
            return Draft(free.text, completion, cut), ""
        return Draft("", self._read("").close()[1], cut), f"\n{thought_end}\n\n"

    def _fitting(self, tails: Sequence[Tail], text: str, closing: str) -> tuple[Tail, str]:
        """The first tail that will be read behind `text`; the last one, with all before it closed, if none would be.
        A thought that is ended closes nothing of what stood before it, such as the turn of another speaker."""
        for tail in tails:
            ways = [text + closing + tail.opening + tail.example]
            if tail.asked_example is not None:
                ways.append(f"{text}{closing}{tail.asked_closing}\n{tail.asked_example}")
            if all(self.form.contract.is_complete(self.form.read(way)) for way in ways):
                return tail, closing
        return tails[-1], f"{closing.rstrip()}\n{CLOSES_ANYTHING}\n\n"

    def _read(self, text: str) -> Reader:
        form = self.form
        reader = Reader(form.contract.name, "lenient", aggregation=form.aggregation, labels=form.labels)
        reader.feed(text)
        return reader


def _written(free: FreeReply, tail: Tail, closing: str) -> Written:
    return Written(
        free.text,
        tuple(free.token_ids),
        free.thought,
        closing=closing,
        opening=tail.opening,
        request=tail.request,
        request_form=tail.request_pattern,
        asked_closing=tail.asked_closing,
    )


def constraints_of(contracts: Sequence[Contract], forced: Forced) -> list[str]:
    """The expressions that most samples will be forced to match, to be compiled before the first one comes."""
    whole = [contract.pattern for contract in contracts if constraint_of(contract, forced) is not None]
    nothing = Draft("", Completion("", None, None, "missing", ""), cut=False)
    tails = [contract.tails(nothing) for contract in contracts if forced == "tail" and contract.tails is not None]
    return whole + [tail.pattern for some in tails for tail in some]
