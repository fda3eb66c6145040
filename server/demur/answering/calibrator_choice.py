"""The calibrator that fits a request, and the threshold that keeps the error rate it asks for."""

from collections.abc import Sequence
from dataclasses import replace

from demur.answering.conditions import conditions_of
from demur.answering.confidence import CALIBRATED, SOURCES, ScoringServices
from demur.answering.confidence.plan import wanted
from demur.answering.errors import GuaranteeUnavailable, InvalidRequest, NotAllowed
from demur.answering.params import RequestParams
from demur.answering.resolved_request import ResolvedRequest
from demur.calibration.calibrator import Guarantee
from demur.calibration.matching import ServedCalibrator
from demur.settings import Settings

_VOTING = "samples", "selection", "stopping", "error_budget"
"""Conditions that say how an answer is chosen: what else decides what answers look like stays as it was asked."""


def with_calibrator(
    request: ResolvedRequest, params: RequestParams, settings: Settings, services: ScoringServices
) -> ResolvedRequest:
    """The request with the calibrator that fits it, where one is wanted, and with the threshold for its `max_error`.

    Raises InvalidRequest where max_error contradicts something, GuaranteeUnavailable where nothing can be promised, and
    NotAllowed where the promise is kept by thresholds below what this caller may ask with.
    """
    _check(params, request)
    named = params.confidence_source or settings.confidence_source
    asks = params.max_error is not None
    if request.contract.states_confidence and services.calibrators and (asks or named in (None, CALIBRATED)):
        request = _fitted(request, params, services)
    if params.max_error is not None:
        request = _promised(request, params.max_error, settings.min_risk_threshold, services)
    elif request.notice is not None and named is None and _changes_nothing(request, services):
        request = replace(request, notice=None)
    if params.include_conditions:
        request = replace(request, conditions=conditions_of(request, services.manifest.domain))
    return request


def _check(params: RequestParams, request: ResolvedRequest) -> None:
    if params.max_error is None:
        return
    if params.risk_threshold is not None:
        raise InvalidRequest("give max_error or risk_threshold, not both: one follows from the other", "max_error")
    if not request.contract.states_confidence:
        raise InvalidRequest(
            f"the {request.contract.name} contract decides without a confidence, so no error rate can be promised",
            "max_error",
        )
    if params.confidence_source not in (None, CALIBRATED):
        raise InvalidRequest(
            f"max_error is kept by calibrated confidences, not by {params.confidence_source}; leave one of them out",
            "max_error",
        )


def _fitted(request: ResolvedRequest, params: RequestParams, services: ScoringServices) -> ResolvedRequest:
    """With the first calibrator that fits, or with a notice that says why the one that comes nearest does not."""
    misfits: list[tuple[int, str]] = []
    for one in services.calibrators.fitting:
        if not _is_for(one, request):
            continue
        tried = _by_source(request, one, services)
        asked = conditions_of(tried, services.manifest.domain)
        uncomputable = _uncomputable(one, params, services)
        why = uncomputable or one.misfit(asked)
        if why is None:
            return replace(tried, calibration=one)
        distance = len(asked) if uncomputable else len(one.differing(asked))
        misfits.append((distance, f"{one.name}: {why}"))
    nearest = min(misfits, default=None, key=lambda each: each[0])
    other = f"no calibrator is for contract {request.contract.name} at granularity {request.granularity}"
    why = services.calibrators.trouble or other if nearest is None else nearest[1]
    return replace(request, notice=f"no calibrator was applied: {why}")


def _is_for(one: ServedCalibrator, request: ResolvedRequest) -> bool:
    return one.calibrator.level == request.granularity and one.calibrator.contract == request.contract.name


def _changes_nothing(request: ResolvedRequest, services: ScoringServices) -> bool:
    """Whether the confidence is the same with a calibrator as without one: all that could be meant serve the signal
    that decides as it is, and only certify thresholds on it. Those of votes are not meant by a request for one sample
    where there are others, nor the other way round."""
    fitting = services.calibrators.fitting
    kind = [one for one in fitting if (one.samples > 1) == (request.samples > 1)] or fitting
    meant = [one for one in kind if _is_for(one, request)] or kind
    maps = [one.calibrator.map for one in meant]
    unchanged = all(map.kind == "identity" and map.signal == request.confidence_source for map in maps)
    return services.calibrators.complete and unchanged


def _by_source(request: ResolvedRequest, one: ServedCalibrator, services: ScoringServices) -> ResolvedRequest:
    """The request as the graded ones were asked: chosen and aggregated by the same source. The calibrator's signals are
    computed as well; one that is missing does not end the request, since the map knows what to do without it."""
    if one.source not in SOURCES:
        return request
    needs = wanted(one.source, [*request.include_signals, *_served(one.calibrator.signals)], SOURCES, services)
    selection = SOURCES[one.source].needs(services).selection or request.selection
    sampling = request.sampling
    if not request.shows_logprobs:
        sampling = replace(sampling, logprobs=0 if needs.logprobs else None)
    return replace(request, confidence_source=one.source, signals=needs, selection=selection, sampling=sampling)


def _served(signals: Sequence[str]) -> list[str]:
    return [name for name in signals if name in SOURCES]


def _uncomputable(one: ServedCalibrator, params: RequestParams, services: ScoringServices) -> str | None:
    """Why this server cannot compute what a calibrator takes for this request; None where it can."""
    for name in {one.source, *one.calibrator.signals}:
        if name not in SOURCES or name == CALIBRATED:
            return f"it takes the signal {name}, which this server does not have"
        why = SOURCES[name].unavailable(services) or SOURCES[name].refusal(params, services)
        if why is None and one.calibrator.level == "claims" and not SOURCES[name].per_claim:
            why = "single claims have none"
        if why is not None:
            return f"it takes the signal {name}: {why}"
    return None


def _promised(
    request: ResolvedRequest, max_error: float, least_threshold: float, services: ScoringServices
) -> ResolvedRequest:
    """With the greatest certified level not above `max_error` whose threshold this caller may ask with."""
    one = request.calibration
    if one is None:
        raise GuaranteeUnavailable(request.notice or "no calibrator is loaded, so no error rate can be promised")
    levels = one.guarantees(max_error)
    if not levels:
        raise GuaranteeUnavailable(
            _unpromised(one, max_error, _by_vote(request, max_error, services)), one.smallest_level
        )
    allowed = one.guarantees(max_error, least_threshold)
    if not allowed:
        raise NotAllowed(
            f"you may ask with a risk_threshold of {least_threshold:g} or more, and {_level(levels[-1])} is kept by"
            f" {levels[-1].threshold:g}",
            "max_error",
        )
    guarantee = allowed[-1]
    return replace(request, guarantee=guarantee, risk_threshold=guarantee.threshold or 0.0)


def _unpromised(one: ServedCalibrator, max_error: float, by_vote: str | None) -> str:
    """Why a level has no threshold, and what could be asked instead."""
    tried = [g for g in one.calibrator.guarantees if g.max_error <= max_error]
    why = f": {tried[-1].reason}" if tried and tried[-1].reason else ""
    rows = f"the {one.calibrator.certification.rows:,} graded answers behind this server"
    if one.smallest_level is None:
        may = f"ask with {by_vote}" if by_vote else "more graded answers or better signals may"
        return f"{rows} carry no promise{why}; {may}"
    other = f", or with {by_vote}" if by_vote else ""
    return f"{rows} do not carry max_error {max_error:g}{why}; ask for {one.smallest_level:g} or more{other}"


def _by_vote(request: ResolvedRequest, max_error: float, services: ScoringServices) -> str | None:
    """The fields of the cheapest request that differs from this one in how its answer is chosen alone, and for which
    `max_error` can be promised; None where there is none."""
    asked = conditions_of(request, services.manifest.domain)
    able = [
        one
        for one in services.calibrators.fitting
        if _is_for(one, request) and one.guarantees(max_error) and set(one.differing(asked)) <= {*_VOTING}
    ]
    if not able:
        return None
    cheapest = min(able, key=lambda one: one.samples)
    told = ((name, cheapest.conditions[name]) for name in _VOTING if name in cheapest.differing(asked))
    usual = {name: RequestParams.model_fields[name].default for name in _VOTING if asked.get(name) is None}
    return ", ".join(f"{name}: {value}" for name, value in told if value is not None and value != usual.get(name))


def _level(guarantee: Guarantee) -> str:
    return f"max_error {guarantee.max_error:g}"
