"""The contracts: output formats that a model is asked for. A new one is one module and one line here."""

from collections import ChainMap
from collections.abc import Mapping

from demur.core.contracts.base import Contract, DecisionRule, Solution, Step
from demur.core.contracts.claims import CLAIMS
from demur.core.contracts.explicit_risk import EXPLICIT_RISK
from demur.core.contracts.fields import FIELDS
from demur.core.contracts.response import RESPONSE
from demur.core.contracts.tails import Draft, Tail

__all__ = [
    "ALL_CONTRACTS",
    "CONTRACTS",
    "SCHEMA_CONTRACTS",
    "Contract",
    "DecisionRule",
    "Draft",
    "Solution",
    "Step",
    "Tail",
]

CONTRACTS: dict[str, Contract] = {contract.name: contract for contract in (RESPONSE, CLAIMS, EXPLICIT_RISK)}
"""By name, as requests, manifests and command lines spell it; the default first."""

SCHEMA_CONTRACTS: dict[str, Contract] = {contract.name: contract for contract in (FIELDS,)}
"""Those whose form is a caller's JSON Schema. Any model can be forced into one, so manifests do not list them."""

ALL_CONTRACTS: Mapping[str, Contract] = ChainMap(SCHEMA_CONTRACTS, CONTRACTS)
"""Both, those of free text first."""
