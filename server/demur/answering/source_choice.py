"""Which signal decides on a request, which are shown, and what stands against it."""

from demur.answering.confidence import CALIBRATED, SOURCES, ScoringServices
from demur.answering.errors import InvalidRequest
from demur.answering.params import RequestParams
from demur.core.answers import Granularity
from demur.core.contracts import Contract
from demur.settings import Settings


def check_availability(params: RequestParams, services: ScoringServices) -> None:
    """Check that the named confidence source and the token values can be had.

    Raises InvalidRequest where this server or this request cannot have them. A signal that is only shown is missing
    then, which is no error.
    """
    if params.confidence_source is not None:
        source = SOURCES[params.confidence_source]
        if (reason := source.unavailable(services) or source.refusal(params, services)) is not None:
            raise InvalidRequest(reason, "confidence_source")
    if params.include_token_values and services.critic is None:
        raise InvalidRequest("token values come from a critic, and none is served", "include_token_values")


def chosen_source(
    params: RequestParams, contract: Contract, granularity: Granularity, settings: Settings, services: ScoringServices
) -> str:
    """The confidence source that decides: what was asked for, else the operator's where it can decide on this request.

    "calibrated" counts as the default here: whether a calibrator fits is known later. Raises InvalidRequest for a
    source that cannot decide under this contract or at this granularity, and for one of the operator's that this server
    or this request cannot have.
    """
    default = next(iter(SOURCES))
    name = params.confidence_source or settings.confidence_source or default
    if name == CALIBRATED and params.confidence_source is not None and not contract.states_confidence:
        raise InvalidRequest(f"the {contract.name} contract decides without a confidence", "confidence_source")
    if name in (default, CALIBRATED):  # what a calibrator is made of is known once one is found
        return default
    misfit = _misfit(name, contract, granularity)
    if params.confidence_source is None:
        return default if misfit else _operators(name, params, services)
    if misfit:
        raise InvalidRequest(misfit, "confidence_source")
    return name


def _misfit(name: str, contract: Contract, granularity: Granularity) -> str | None:
    """Why a source cannot decide under this contract at this granularity."""
    if not contract.states_confidence:
        return f"the {contract.name} contract decides without a confidence"
    if granularity == "claims" and not SOURCES[name].per_claim:
        return f"{name} is one confidence for the whole answer, not for single claims; use granularity 'response'"
    return None


def _operators(name: str, params: RequestParams, services: ScoringServices) -> str:
    reason = SOURCES[name].unavailable(services) or SOURCES[name].refusal(params, services)
    if reason is not None:
        raise InvalidRequest(f"{reason} (this server decides by {name} unless you name another)", "confidence_source")
    return name


def chosen_selection(params: RequestParams, source: str, services: ScoringServices) -> str:
    """The selection rule of the vote. Raises InvalidRequest for another one than the deciding source demands."""
    rule = SOURCES[source].needs(services).selection
    if rule is not None and "selection" in params.model_fields_set and params.selection != rule:
        raise InvalidRequest(
            f"{source} comes from the vote of {rule!r}: leave selection out, or set it to that", "selection"
        )
    return rule or params.selection
