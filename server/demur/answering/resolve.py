"""Request parameters -> resolved request: defaults filled in, limits applied, contradictions found before any work."""

from demur.answering.confidence import SOURCES, ScoringServices
from demur.answering.confidence.plan import wanted
from demur.answering.contract_choice import chosen_aggregation, chosen_contract, chosen_granularity, chosen_on_doubt
from demur.answering.errors import UnknownModel
from demur.answering.limits import check_limits, timeout_of
from demur.answering.params import UnresolvedRequest
from demur.answering.resolved_request import ResolvedRequest
from demur.answering.sampling_settings import chosen_sampling
from demur.answering.server_defaults import default_threshold, forcing, trained_wording
from demur.answering.source_choice import check_availability, chosen_selection, chosen_source
from demur.core.fields import can_all_be_null
from demur.manifest import Manifest
from demur.settings import Settings


def resolve(
    request: UnresolvedRequest, manifest: Manifest, settings: Settings, services: ScoringServices
) -> ResolvedRequest:
    """Every parameter of one request, decided before any work is done for it.

    Raises InvalidRequest, NotAllowed or UnknownModel, naming the field.
    """
    params = request.params
    if params.model not in (None, manifest.name):
        raise UnknownModel(f"no model {params.model!r:.100}; this server has {manifest.name!r}", "model")
    check_limits(request, settings)
    check_availability(params, services)
    contract = chosen_contract(request, manifest, settings)
    on_doubt = chosen_on_doubt(params, contract, settings)
    granularity = chosen_granularity(params, contract, settings, on_doubt)
    source = chosen_source(params, contract, granularity, settings, services)
    signals = wanted(source, params.include_signals, SOURCES, services)
    return ResolvedRequest(
        messages=request.messages,
        field=request.field,
        contract=contract,
        granularity=granularity,
        risk_threshold=default_threshold(settings) if params.risk_threshold is None else params.risk_threshold,
        aggregation=chosen_aggregation(params, contract, manifest),
        confidence_source=source,
        signals=signals,
        labels=settings.labels,
        samples=params.samples,
        selection=chosen_selection(params, source, services),
        stopping=params.stopping,
        error_budget=params.error_budget,
        sampling=chosen_sampling(request, contract, manifest, settings, logprobs=signals.logprobs),
        forces_tail=forcing(settings, manifest) == "tail" and contract.tails is not None,
        trained_wording=trained_wording(settings, manifest),
        shows_logprobs=request.logprobs is not None,
        schema=request.schema,
        on_doubt=on_doubt,
        empties_anywhere=request.schema is not None and can_all_be_null(request.schema),
        template=params.chat_template_kwargs,
        max_tokens_asked=params.max_tokens is not None,
        timeout=timeout_of(params, settings),
        include_withheld=params.include_withheld,
        include_raw=params.include_raw,
        include_token_values=params.include_token_values,
        include_signals=params.include_signals,
    )
