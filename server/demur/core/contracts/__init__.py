"""The contracts: output formats that a model is asked for. A new one is one module and one line here."""

from demur.core.contracts.base import Contract, DecisionRule, Solution, Step
from demur.core.contracts.claims import CLAIMS
from demur.core.contracts.explicit_risk import EXPLICIT_RISK
from demur.core.contracts.response import RESPONSE
from demur.core.contracts.tails import Draft, Tail

__all__ = ["CONTRACTS", "Contract", "DecisionRule", "Draft", "Solution", "Step", "Tail"]

CONTRACTS: dict[str, Contract] = {contract.name: contract for contract in (RESPONSE, CLAIMS, EXPLICIT_RISK)}
"""By name, as requests, manifests and command lines spell it; the default first."""
