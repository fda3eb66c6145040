"""The likelihood of the answer's own tokens, as a confidence: exp of their mean log-probability.

That is the geometric mean of their probabilities, so that long answers are not doubted for being long
(length-normalised sequence likelihood, arXiv:2002.07650). Only the answer counts: the reasoning before it would drown
it.
"""

from collections.abc import Sequence
from math import exp, fsum
from typing import TYPE_CHECKING

from demur.answering.confidence.base import FinishedSample, Needs, Score, ScoringServices
from demur.answering.confidence.signal import Signal
from demur.answering.token_offsets import offset_of
from demur.core.answer_span import Span
from demur.core.answers import FieldValue
from demur.engine.base import TokenLogprob

if TYPE_CHECKING:
    from demur.answering.params import RequestParams

NO_ANSWER = "the output has no answer that could be read"
NOT_TOLD = "the model's host told no log-probabilities"
NOT_FOUND = "where the answer stands in the output is not known"
NOT_THESE = (
    "the tokens whose log-probabilities were told do not make up the output; a host with a parser for reasoning or"
    " tools tells none of a tail that was forced"
)


class AnswerLogprob:
    """Length-normalised likelihood of the answer's tokens as a confidence in [0, 1].

    It costs no further call: the engine is asked for the log-probabilities of the tokens that it draws.
    """

    per_claim = False
    votes = True

    def needs(self, services: ScoringServices) -> Needs:
        return Needs(logprobs=True)

    def unavailable(self, services: ScoringServices) -> str | None:
        return None

    def refusal(self, params: "RequestParams", services: ScoringServices) -> str | None:
        return None

    def scorer(self, services: ScoringServices) -> "AnswerLogprob":
        return self

    async def score(self, sample: FinishedSample) -> Score:
        """The likelihood of the answer's own tokens; of a JSON answer the tokens of all its values count.

        Missing without an answer, where the engine tells no log-probabilities, and where the answer's tokens cannot be
        found in the output.
        """
        completion = sample.read()
        if completion.answer is None:
            return Score(Signal.missing(NO_ANSWER))
        if fields := completion.fields:
            return Score(_likelihood_of(sample, [field.span for field in fields]))
        return Score(_likelihood_of(sample, [sample.answer_span(completion.answer)]))

    def of_field(self, field: FieldValue, sample: FinishedSample) -> Signal:
        """The likelihood of the value's own tokens."""
        return _likelihood_of(sample, [field.span])


def _likelihood_of(sample: FinishedSample, spans: Sequence[Span | None]) -> Signal:
    """That of the tokens at these places of the output."""
    if not sample.logprobs:
        return Signal.missing(NOT_TOLD)
    known = [span for span in spans if span is not None]
    if len(known) < len(spans):
        return Signal.missing(NOT_FOUND)
    tokens = [token for span in known for token in tokens_within(sample.text, span, sample.logprobs)]
    return Signal(likelihood(tokens)) if tokens else Signal.missing(NOT_THESE)


def likelihood(tokens: Sequence[TokenLogprob]) -> float:
    """exp of the mean log-probability of tokens, at least one: the geometric mean of their probabilities, in [0, 1]."""
    return exp(min(fsum(token.logprob for token in tokens) / len(tokens), 0.0))


def tokens_within(text: str, span: tuple[int, int], tokens: Sequence[TokenLogprob]) -> list[TokenLogprob]:
    """The tokens that wrote `text[span[0]:span[1]]`, also those that wrote only a part of it; `tokens` wrote `text`.

    `span` is [start, end) in code points. A token without text belongs to the character that it is the first part of.
    Empty where `tokens` did not write `text`.
    """
    start, end = (len(_bytes(text[:place])) for place in span)
    at = -offset_of(_bytes(text), tokens, end)
    found = list[TokenLogprob]()
    for token in tokens:
        before, at = at, at + len(token.text)
        if before < end and (at > start or (at == before == start)):
            found.append(token)
    return found if at >= end else []


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
