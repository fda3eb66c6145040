"""A request with every parameter definite: what the rest of answering works with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from demur.answering.confidence import CALIBRATED, SOURCES
from demur.answering.confidence.plan import Wanted
from demur.answering.doubt import OnDoubt
from demur.calibration.calibrator import Guarantee
from demur.calibration.matching import ServedCalibrator
from demur.core.answer_span import OutputForm
from demur.core.answers import Aggregation, Granularity
from demur.core.contracts import Contract
from demur.core.fields.schema import Schema
from demur.core.parsing.labels import Labels
from demur.core.stopping import Stopping
from demur.engine.base import Message, Sampling, TemplateArguments


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRequest:
    """One request with every parameter definite. `messages` end with the user's; `field` is what they came in as.

    With `forces_tail` each sample is written freely, and its last lines are forced where they cannot be read. The
    prompt has the `trained_wording`, or the one for models that were never trained to it.

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
    forces_tail: bool
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
