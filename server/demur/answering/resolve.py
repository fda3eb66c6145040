"""Request parameters -> resolved request: defaults filled in, limits applied, contradictions found before any work."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from demur.answering.confidence import CALIBRATED, SOURCES, ScoringServices
from demur.answering.confidence.plan import Wanted, wanted
from demur.answering.doubt import OnDoubt
from demur.answering.errors import InvalidRequest, NotAllowed, UnknownModel
from demur.answering.params import RequestParams, UnresolvedRequest
from demur.answering.settling import Forced, constraint_of
from demur.answering.source_choice import check_availability, chosen_selection, chosen_source
from demur.calibration.file import Guarantee
from demur.calibration.matching import ServedCalibrator
from demur.core.answer_span import OutputForm
from demur.core.answers import Aggregation, Granularity
from demur.core.contracts import ALL_CONTRACTS, SCHEMA_CONTRACTS, Contract
from demur.core.fields import SchemaError, can_all_be_null, paired_schema
from demur.core.fields.schema import Schema
from demur.core.parsing.labels import Labels
from demur.core.stopping import Stopping
from demur.engine.base import Message, Prompt, Sampling, TemplateArguments
from demur.engine.shaping import LogitShaping
from demur.manifest import Manifest
from demur.settings import Settings

SEEDS = 2**63
"""What every engine takes is below it; a seed from anywhere in 64 bits is folded into that range."""
KEEP_ALL = -1
"""vLLM's other word for a top-k that keeps every token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRequest:
    """One request with every parameter definite. `messages` end with the user's; `field` is what they came in as.

    With `settles` each sample is written freely, and its last lines are forced where they cannot be read. The prompt
    has the `trained_wording`, or the one for models that were never trained to it.

    `confidence_source` is what samples vote with and claims are aggregated by; where a `calibration` fits, that decides
    instead, at the threshold of its `guarantee` if one was asked for. `notice` says why none fits.
    """

    messages: tuple[Message, ...]
    field: str
    contract: Contract
    granularity: Granularity
    risk_threshold: float
    aggregation: Aggregation
    confidence_source: str
    signals: Wanted
    labels: Labels
    samples: int
    selection: str
    stopping: Stopping
    error_budget: float
    sampling: Sampling
    settles: bool
    trained_wording: bool
    template: TemplateArguments | None
    shows_logprobs: bool
    schema: Schema | None
    on_doubt: OnDoubt
    empties_anywhere: bool
    max_tokens_asked: bool
    timeout: float
    include_withheld: bool
    include_raw: bool
    include_token_values: bool
    include_signals: tuple[str, ...]
    calibration: ServedCalibrator | None = None
    guarantee: Guarantee | None = None
    notice: str | None = None
    conditions: Mapping[str, Any] | None = None

    @property
    def deciding_source(self) -> str:
        """What the confidence that is compared with the threshold comes from."""
        return self.confidence_source if self.calibration is None else CALIBRATED

    @property
    def form(self) -> OutputForm:
        """How its outputs are read."""
        return OutputForm(self.contract, self.aggregation, self.labels)

    @property
    def voting_source(self) -> str:
        """What several samples vote with: what decides, where each sample has it; else what they state."""
        return self.confidence_source if SOURCES[self.confidence_source].votes else next(iter(SOURCES))

    @property
    def claims_decide(self) -> bool:
        """Whether the confidence is aggregated from those of claims, and so known in part while they are written."""
        return self.contract.has_claims and SOURCES[self.confidence_source].per_claim

    @property
    def counting_rule(self) -> str:
        """The selection rule of the vote. Where no sample states a confidence every rule comes to the majority's
        winner, which knows that none will: it may stop on the members alone."""
        return self.selection if self.contract.states_confidence else "majority"

    @property
    def abstains_early(self) -> bool:
        """Whether a single sample may be stopped once its claims so far cannot reach the threshold any more."""
        on_claims = self.claims_decide and self.granularity == "response" and self.calibration is None
        return on_claims and self.samples == 1 and self.stopping != "none" and not self.include_withheld


def resolve(
    request: UnresolvedRequest, manifest: Manifest, settings: Settings, services: ScoringServices
) -> ResolvedRequest:
    """Raises InvalidRequest, NotAllowed or UnknownModel, naming the field."""
    params = request.params
    if params.model not in (None, manifest.name):
        raise UnknownModel(f"no model {params.model!r:.100}; this server has {manifest.name!r}", "model")
    _check_messages(request, settings)
    _check_permissions(params, settings)
    check_availability(params, services)
    _check_floor(params, settings)
    contract = _contract(request, manifest, settings)
    on_doubt = _on_doubt(params, contract, settings)
    granularity = _granularity(params, contract, settings, on_doubt)
    source = chosen_source(params, contract, granularity, settings, services)
    signals = wanted(source, params.include_signals, SOURCES, services)
    return ResolvedRequest(
        messages=request.messages,
        field=request.field,
        contract=contract,
        granularity=granularity,
        risk_threshold=default_threshold(settings) if params.risk_threshold is None else params.risk_threshold,
        aggregation=_aggregation(params, contract, manifest),
        confidence_source=source,
        signals=signals,
        labels=settings.labels,
        samples=params.samples,
        selection=chosen_selection(params, source, services),
        stopping=params.stopping,
        error_budget=params.error_budget,
        sampling=replace(
            _sampling(request, contract, manifest, settings), logprobs=_logprobs(request, needed=signals.logprobs)
        ),
        settles=forcing(settings, manifest) == "tail" and contract.tails is not None,
        trained_wording=trained_wording(settings, manifest),
        shows_logprobs=request.logprobs is not None,
        schema=request.schema,
        on_doubt=on_doubt,
        empties_anywhere=request.schema is not None and can_all_be_null(request.schema),
        template=params.chat_template_kwargs,
        max_tokens_asked=params.max_tokens is not None,
        timeout=_timeout(params, settings),
        include_withheld=params.include_withheld,
        include_raw=params.include_raw,
        include_token_values=params.include_token_values,
        include_signals=params.include_signals,
    )


def default_threshold(settings: Settings) -> float:
    """What a request that names none gets: the operator's, unless this caller has to ask for more."""
    return max(settings.risk_threshold, settings.min_risk_threshold)


def is_bounded(settings: Settings) -> bool:
    """Whether this caller may only see what reaches a threshold that somebody else has set."""
    return settings.min_risk_threshold > 0 and not settings.withheld_allowed


def fit(request: ResolvedRequest, prompt: Prompt, max_model_len: int | None) -> Sampling:
    """The sampling settings with at most as many tokens as the prompt leaves room for."""
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


def forcing(settings: Settings, manifest: Manifest) -> Forced:
    """What of an output is forced into its form: a model that was not calibrated was not trained to it either."""
    if settings.force_contract != "auto":
        return settings.force_contract
    return "never" if manifest.calibrated else "tail"


def trained_wording(settings: Settings, manifest: Manifest) -> bool:
    """Whether prompts have the wording that models are trained with: for models that were trained, whatever for."""
    return manifest.was_trained if settings.prompt_wording == "auto" else settings.prompt_wording == "trained"


def numbered(sampling: Sampling, i: int) -> Sampling:
    """The settings of the i-th sample: the same, but for the seed."""
    return sampling if sampling.seed is None else replace(sampling, seed=(sampling.seed + i) % SEEDS)


def _check_messages(request: UnresolvedRequest, settings: Settings) -> None:
    if not request.messages[-1]["content"].strip():
        raise InvalidRequest("the question is empty", request.field)
    length = sum(len(message["content"]) for message in request.messages)
    if request.schema is not None:
        length += len(json.dumps(request.schema, ensure_ascii=False))
    if length > settings.max_question_chars:
        raise InvalidRequest(
            f"{length} characters; this server takes at most {settings.max_question_chars}", request.field
        )


def _check_permissions(params: RequestParams, settings: Settings) -> None:
    if params.include_withheld and not settings.withheld_allowed:
        raise NotAllowed("this server shows no withheld text", "include_withheld")
    if params.samples > settings.max_samples:
        raise InvalidRequest(f"samples may be at most {settings.max_samples}", "samples")


def _check_floor(params: RequestParams, settings: Settings) -> None:
    least = settings.min_risk_threshold
    if params.risk_threshold is not None and params.risk_threshold < least:
        raise NotAllowed(f"you may ask with a risk_threshold of {least:g} or more", "risk_threshold")


def _contract(request: UnresolvedRequest, manifest: Manifest, settings: Settings) -> Contract:
    """A schema asks for a contract that takes one, which every model can be forced into."""
    default = manifest.contracts[0] if request.schema is None else next(iter(SCHEMA_CONTRACTS))
    name = request.params.contract or default
    contract = ALL_CONTRACTS[name]
    if contract.takes_schema and request.schema is None:
        raise InvalidRequest(f"the {name} contract needs the JSON Schema of the answer", request.schema_field)
    if request.schema is not None and not contract.takes_schema:
        raise InvalidRequest(f"the {name} contract has no place for a schema; leave one of them out", "contract")
    if not contract.takes_schema and name not in manifest.contracts:
        raise InvalidRequest(f"this model has the contracts {', '.join(manifest.contracts)}", "contract")
    if not contract.states_confidence and is_bounded(settings):
        raise NotAllowed(
            f"you may only see what reaches a risk_threshold of {settings.min_risk_threshold:g}, and answers under the "
            f"{name} contract state no confidence",
            "contract",
        )
    return contract


def _on_doubt(params: RequestParams, contract: Contract, settings: Settings) -> OnDoubt:
    if not contract.takes_schema:
        for name in ("on_doubt", "explain_fields"):
            if getattr(params, name):
                raise InvalidRequest("goes with the JSON Schema of an answer", name)
        return "abstain"
    if params.on_doubt == "keep" and is_bounded(settings):
        raise NotAllowed(
            f"you may only see what reaches a risk_threshold of {settings.min_risk_threshold:g}; use 'null' or "
            "'abstain'",
            "on_doubt",
        )
    return params.on_doubt or ("abstain" if is_bounded(settings) else "keep")


def _granularity(params: RequestParams, contract: Contract, settings: Settings, on_doubt: OnDoubt) -> Granularity:
    if contract.takes_schema:
        if params.granularity is not None:
            raise InvalidRequest("with a schema on_doubt says what is decided on", "granularity")
        return "response" if on_doubt == "abstain" else "claims"
    if params.granularity == "claims" and not contract.has_claims:
        raise InvalidRequest(f"the {contract.name} contract has no claims to decide on; use 'response'", "granularity")
    if params.granularity == "claims" and is_bounded(settings):
        raise NotAllowed(
            f"you may only see what reaches a risk_threshold of {settings.min_risk_threshold:g}, and at granularity "
            "'claims' the text of doubtful claims is shown; use 'response'",
            "granularity",
        )
    if params.granularity is not None or not contract.has_claims:
        return params.granularity or "response"
    return "response" if is_bounded(settings) else "claims"


def _aggregation(params: RequestParams, contract: Contract, manifest: Manifest) -> Aggregation:
    if params.aggregation is not None and not (contract.has_claims or contract.takes_schema):
        raise InvalidRequest(f"the {contract.name} contract has no claims to aggregate", "aggregation")
    name = params.confidence_source
    if params.aggregation is not None and name is not None and not SOURCES[name].per_claim:
        raise InvalidRequest(
            f"{name} is one confidence for the whole answer: there is nothing to aggregate", "aggregation"
        )
    return params.aggregation or manifest.aggregation


def _sampling(request: UnresolvedRequest, contract: Contract, manifest: Manifest, settings: Settings) -> Sampling:
    default, params = manifest.sampling, request.params
    return Sampling(
        max_tokens=params.max_tokens or default.max_tokens,
        temperature=default.temperature if params.temperature is None else params.temperature,
        top_p=default.top_p if params.top_p is None else params.top_p,
        seed=None if params.seed is None else params.seed % SEEDS,
        shaping=_shaping(params),
        constraint=None if contract.takes_schema else constraint_of(contract, forcing(settings, manifest)),
        json_schema=_paired(request),
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


def _timeout(params: RequestParams, settings: Settings) -> float:
    if params.timeout is not None and params.timeout > settings.max_timeout:
        raise InvalidRequest(f"timeout may be at most {settings.max_timeout:g} seconds", "timeout")
    return settings.timeout if params.timeout is None else params.timeout
