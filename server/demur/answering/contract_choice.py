"""Which contract a request gets, and what is decided on under it: the whole answer, single claims, single fields."""

from demur.answering.confidence import SOURCES
from demur.answering.doubt import OnDoubt
from demur.answering.errors import InvalidRequest, NotAllowed
from demur.answering.params import RequestParams, UnresolvedRequest
from demur.answering.server_defaults import is_bounded
from demur.core.answers import Aggregation, Granularity
from demur.core.contracts import ALL_CONTRACTS, SCHEMA_CONTRACTS, Contract
from demur.manifest import Manifest
from demur.settings import Settings


def chosen_contract(request: UnresolvedRequest, manifest: Manifest, settings: Settings) -> Contract:
    """The named one, else the model's first. A schema asks for a contract that takes one, which every model can be
    forced into. Raises InvalidRequest where they do not go together, NotAllowed for one without confidences."""
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


def chosen_on_doubt(params: RequestParams, contract: Contract, settings: Settings) -> OnDoubt:
    """What becomes of fields below the threshold. Raises InvalidRequest without a schema, NotAllowed for doubtful text
    that this caller may not see."""
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


def chosen_granularity(params: RequestParams, contract: Contract, settings: Settings, on_doubt: OnDoubt) -> Granularity:
    """Whether the whole response is decided on, or single claims.

    Raises InvalidRequest for claims under a contract that has none and for a granularity beside a schema, NotAllowed
    where doubtful claims would be shown to a caller who may not see them.
    """
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


def chosen_aggregation(params: RequestParams, contract: Contract, manifest: Manifest) -> Aggregation:
    """How the confidences of claims become one; the model's own where the request names none. Raises InvalidRequest
    where there is nothing to aggregate."""
    if params.aggregation is not None and not (contract.has_claims or contract.takes_schema):
        raise InvalidRequest(f"the {contract.name} contract has no claims to aggregate", "aggregation")
    name = params.confidence_source
    if params.aggregation is not None and name is not None and not SOURCES[name].per_claim:
        raise InvalidRequest(
            f"{name} is one confidence for the whole answer: there is nothing to aggregate", "aggregation"
        )
    return params.aggregation or manifest.aggregation
