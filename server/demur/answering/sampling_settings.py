"""How samples are drawn: temperature, length, seed, constraint, as the request, the model and its context allow."""

from dataclasses import fields, replace

from demur.answering.errors import InvalidRequest
from demur.answering.params import RequestParams, UnresolvedRequest
from demur.answering.resolved_request import ResolvedRequest
from demur.answering.server_defaults import forcing
from demur.answering.tail_forcing import constraint_of
from demur.core.contracts import Contract
from demur.core.fields import SchemaError, paired_schema
from demur.core.fields.schema import Schema
from demur.engine.base import Prompt, Sampling
from demur.engine.shaping import LogitShaping
from demur.manifest import Manifest
from demur.settings import Settings

SEEDS = 2**63
"""What every engine takes is below it; a seed from anywhere in 64 bits is folded into that range."""
KEEP_ALL = -1
"""vLLM's other word for a top-k that keeps every token."""


def chosen_sampling(
    request: UnresolvedRequest, contract: Contract, manifest: Manifest, settings: Settings, *, logprobs: bool
) -> Sampling:
    """Temperature, top-p, length and so on of one sample: the request's where it has some, else those of the model.

    `logprobs` says whether a signal needs the log-probabilities of the sampled tokens. Raises InvalidRequest for a JSON
    Schema that cannot be answered with confidences.
    """
    default, params = manifest.sampling, request.params
    return Sampling(
        max_tokens=params.max_tokens or default.max_tokens,
        temperature=default.temperature if params.temperature is None else params.temperature,
        top_p=default.top_p if params.top_p is None else params.top_p,
        seed=None if params.seed is None else params.seed % SEEDS,
        shaping=_shaping(params),
        constraint=None if contract.takes_schema else constraint_of(contract, forcing(settings, manifest)),
        json_schema=_paired(request),
        logprobs=_logprobs(request, needed=logprobs),
    )


def _logprobs(request: UnresolvedRequest, *, needed: bool) -> int | None:
    """What the engine is asked for: for the caller, or for signals, which want no other tokens."""
    return request.logprobs if request.logprobs is not None else 0 if needed else None


def _paired(request: UnresolvedRequest) -> Schema | None:
    """The form that the output is forced into, whatever the operator says of other contracts."""
    if request.schema is None:
        return None
    try:
        return paired_schema(request.schema, explained=request.params.explain_fields)
    except SchemaError as error:
        raise InvalidRequest(str(error), request.schema_field) from None


def _shaping(params: RequestParams) -> LogitShaping:
    """What the caller says of it; what is left out or null changes nothing."""
    given = {each.name: getattr(params, each.name) for each in fields(LogitShaping)}
    if (biases := given["logit_bias"]) is not None:
        given["logit_bias"] = {int(token): bias for token, bias in biases.items()}
    if given["top_k"] == KEEP_ALL:
        given["top_k"] = None
    return LogitShaping(**{name: value for name, value in given.items() if value is not None})


def fit(request: ResolvedRequest, prompt: Prompt, max_model_len: int | None) -> Sampling:
    """The sampling settings with `max_tokens` cut to what the prompt leaves of the context, `max_model_len` tokens.

    A prompt that is not tokenized here is estimated at two characters a token, and then only a default is cut.
    """
    sampling = request.sampling
    if max_model_len is None:
        return sampling
    if prompt.token_ids is None:
        return sampling if request.max_tokens_asked else _roughly(sampling, prompt, max_model_len)
    room = max_model_len - len(prompt.token_ids)
    return sampling if sampling.max_tokens <= room else replace(sampling, max_tokens=room)


def _roughly(sampling: Sampling, prompt: Prompt, max_model_len: int) -> Sampling:
    """A default cut to what should fit beside a prompt that is only tokenized elsewhere: two characters a token is
    more than most text needs. A prompt that seems to fill the model is left for that place to judge."""
    room = max_model_len - sum(len(message["content"]) for message in prompt.messages) // 2
    return replace(sampling, max_tokens=min(sampling.max_tokens, room)) if room > 0 else sampling


def numbered(sampling: Sampling, i: int) -> Sampling:
    """The settings of the i-th sample: the same, but for the seed."""
    return sampling if sampling.seed is None else replace(sampling, seed=(sampling.seed + i) % SEEDS)
