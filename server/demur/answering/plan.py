"""A request made definite: defaults filled in, limits applied, every contradiction found before the engine is asked."""

from dataclasses import dataclass, replace

from demur.answering.asked import Asked, ConfidenceSource, Question
from demur.answering.errors import InvalidRequest, NotAllowed, UnknownModel
from demur.core.answers import Aggregation, Contract, Granularity
from demur.core.reading.labels import LABELS, Labels
from demur.core.selection import SelectionRule
from demur.core.stopping import Stopping
from demur.engine.base import Prompt, Sampling
from demur.forcing import constraint
from demur.manifest import Manifest
from demur.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything about one request but its conversation."""

    contract: Contract
    granularity: Granularity
    risk_threshold: float
    aggregation: Aggregation
    confidence_source: ConfidenceSource
    samples: int
    selection: SelectionRule
    stopping: Stopping
    error_budget: float
    sampling: Sampling
    max_tokens_asked: bool
    timeout: float
    include_withheld: bool
    include_raw: bool
    include_token_values: bool
    labels: Labels = LABELS

    @property
    def shows_text(self) -> bool:
        """Whether the visible text is the caller's whatever the decision: a single sample, with claims that carry
        their doubts beside them or at a threshold that nothing falls below."""
        at_no_risk = self.risk_threshold == 0 and self.contract != "explicit_risk"
        return self.samples == 1 and (self.granularity == "claims" or at_no_risk)

    @property
    def live(self) -> bool:
        """Whether text may be shown before the decision: nothing that is shown could still be withheld."""
        return self.shows_text or (self.samples == 1 and self.include_withheld)

    @property
    def rule(self) -> SelectionRule:
        """What the vote counts. Where no sample states a confidence every rule comes to the majority's winner, which
        knows that none will: it may stop on the members alone."""
        return "majority" if self.contract == "explicit_risk" else self.selection

    @property
    def gives_up(self) -> bool:
        """Whether a single sample may be stopped once its claims so far leave no hope of an answer."""
        on_claims_alone = self.contract == "claims" and self.confidence_source == "verbalized"
        decides_on_claims = on_claims_alone and self.granularity == "response"
        return decides_on_claims and self.samples == 1 and self.stopping != "none" and not self.include_withheld


def make_plan(question: Question, manifest: Manifest, settings: Settings, *, critic: bool = False) -> Plan:
    """`critic` says whether one is served. Raises InvalidRequest, NotAllowed or UnknownModel, naming the field."""
    asked = question.asked
    if asked.model not in (None, manifest.name):
        raise UnknownModel(f"no model {asked.model!r:.100}; this server has {manifest.name!r}", "model")
    _check_question(question, settings)
    _check_permissions(asked, settings)
    _check_critic(asked, critic)
    _check_floor(asked, settings)
    contract = _contract(asked, manifest, settings)
    granularity = _granularity(asked, contract, settings)
    return Plan(
        contract=contract,
        granularity=granularity,
        risk_threshold=risk_threshold(asked, settings),
        aggregation=_aggregation(asked, contract, manifest),
        confidence_source=_confidence_source(asked, contract, granularity),
        samples=asked.samples,
        selection=asked.selection,
        stopping=asked.stopping,
        error_budget=asked.error_budget,
        sampling=_sampling(asked, contract, manifest, settings),
        max_tokens_asked=asked.max_tokens is not None,
        timeout=_timeout(asked, settings),
        include_withheld=asked.include_withheld,
        include_raw=asked.include_raw,
        include_token_values=asked.include_token_values,
        labels=settings.labels,
    )


def risk_threshold(asked: Asked, settings: Settings) -> float:
    """The caller's, else the operator's."""
    return default_threshold(settings) if asked.risk_threshold is None else asked.risk_threshold


def default_threshold(settings: Settings) -> float:
    """What a request that names none gets: the operator's, unless this caller has to ask for more."""
    return max(settings.risk_threshold, settings.min_risk_threshold)


def is_bounded(settings: Settings) -> bool:
    """Whether this caller may only see what reaches a threshold that somebody else has set."""
    return settings.min_risk_threshold > 0 and not settings.withheld_allowed


def fit(plan: Plan, prompt: Prompt, max_model_len: int | None) -> Sampling:
    """The sampling settings with as many tokens as the prompt leaves room for.

    A default is cut to what fits. Raises InvalidRequest when the caller asked for more than that.
    """
    if max_model_len is None:
        return plan.sampling
    if prompt.token_ids is None:
        return plan.sampling if plan.max_tokens_asked else _roughly(plan, prompt, max_model_len)
    room = max_model_len - len(prompt.token_ids)
    if plan.sampling.max_tokens <= room:
        return plan.sampling
    if plan.max_tokens_asked:
        raise InvalidRequest(
            f"max_tokens may be at most {room}: the model takes {max_model_len} tokens in all, "
            f"{max_model_len - room} of them are the prompt",
            "max_tokens",
        )
    return replace(plan.sampling, max_tokens=room)


def _roughly(plan: Plan, prompt: Prompt, max_model_len: int) -> Sampling:
    """A default cut to what should fit beside a prompt that is only tokenized elsewhere: two characters a token is
    more than most text needs. A prompt that seems to fill the model is left for that place to judge."""
    room = max_model_len - sum(len(message["content"]) for message in prompt.messages) // 2
    return replace(plan.sampling, max_tokens=min(plan.sampling.max_tokens, room)) if room > 0 else plan.sampling


def forces(settings: Settings, manifest: Manifest) -> bool:
    """Whether samples are forced into the output form: a model that was not calibrated was not trained to it either."""
    return settings.force_contract == "always" or (settings.force_contract == "auto" and not manifest.calibrated)


def numbered(sampling: Sampling, i: int) -> Sampling:
    """The settings of the i-th sample: the same, but for the seed."""
    return sampling if sampling.seed is None else replace(sampling, seed=sampling.seed + i)


def _check_question(question: Question, settings: Settings) -> None:
    if not question.turns[-1]["content"].strip():
        raise InvalidRequest("the question is empty", question.param)
    length = sum(len(turn["content"]) for turn in question.turns)
    if length > settings.max_question_chars:
        raise InvalidRequest(
            f"{length} characters; this server takes at most {settings.max_question_chars}", question.param
        )


def _check_critic(asked: Asked, critic: bool) -> None:
    if asked.confidence_source == "critic" and not critic:
        raise InvalidRequest("no critic is served with this model; use 'verbalized'", "confidence_source")
    if asked.include_token_values and not critic:
        raise InvalidRequest("token values come from a critic, and none is served", "include_token_values")


def _check_permissions(asked: Asked, settings: Settings) -> None:
    if asked.include_withheld and not settings.withheld_allowed:
        raise NotAllowed("this server shows no withheld text", "include_withheld")
    if asked.samples > settings.max_samples:
        raise InvalidRequest(f"samples may be at most {settings.max_samples}", "samples")


def _check_floor(asked: Asked, settings: Settings) -> None:
    least = settings.min_risk_threshold
    if asked.risk_threshold is not None and asked.risk_threshold < least:
        raise NotAllowed(f"you may ask with a risk_threshold of {least:g} or more", "risk_threshold")


def _contract(asked: Asked, manifest: Manifest, settings: Settings) -> Contract:
    contract = asked.contract or manifest.contracts[0]
    if contract not in manifest.contracts:
        raise InvalidRequest(f"this model has the contracts {', '.join(manifest.contracts)}", "contract")
    if contract == "explicit_risk" and is_bounded(settings):
        raise NotAllowed(
            f"you may only see what reaches a risk_threshold of {settings.min_risk_threshold:g}, and answers under the "
            "explicit_risk contract state no confidence",
            "contract",
        )
    return contract


def _granularity(asked: Asked, contract: Contract, settings: Settings) -> Granularity:
    if asked.granularity == "claims" and contract != "claims":
        raise InvalidRequest(f"the {contract} contract has no claims to decide on; use 'response'", "granularity")
    if asked.granularity == "claims" and is_bounded(settings):
        raise NotAllowed(
            f"you may only see what reaches a risk_threshold of {settings.min_risk_threshold:g}, and at granularity "
            "'claims' the text of doubtful claims is shown; use 'response'",
            "granularity",
        )
    if asked.granularity is not None or contract != "claims":
        return asked.granularity or "response"
    return "response" if is_bounded(settings) else "claims"


def _aggregation(asked: Asked, contract: Contract, manifest: Manifest) -> Aggregation:
    if asked.aggregation is not None and contract != "claims":
        raise InvalidRequest(f"the {contract} contract has no claims to aggregate", "aggregation")
    if asked.aggregation is not None and asked.confidence_source == "critic":
        raise InvalidRequest("a critic values the whole answer: there is nothing to aggregate", "aggregation")
    return asked.aggregation or manifest.aggregation


def _confidence_source(asked: Asked, contract: Contract, granularity: Granularity) -> ConfidenceSource:
    if asked.confidence_source != "critic":
        return "verbalized"
    if contract == "explicit_risk":
        raise InvalidRequest("the explicit_risk contract decides without a confidence", "confidence_source")
    if granularity == "claims":
        raise InvalidRequest(
            "a critic values whole answers, not single claims; use granularity 'response'", "confidence_source"
        )
    return "critic"


def _sampling(asked: Asked, contract: Contract, manifest: Manifest, settings: Settings) -> Sampling:
    default = manifest.sampling
    return Sampling(
        max_tokens=asked.max_tokens or default.max_tokens,
        temperature=default.temperature if asked.temperature is None else asked.temperature,
        top_p=default.top_p if asked.top_p is None else asked.top_p,
        seed=asked.seed,
        constraint=constraint(contract) if forces(settings, manifest) else None,
    )


def _timeout(asked: Asked, settings: Settings) -> float:
    if asked.timeout is not None and asked.timeout > settings.max_timeout:
        raise InvalidRequest(f"timeout may be at most {settings.max_timeout:g} seconds", "timeout")
    return settings.timeout if asked.timeout is None else asked.timeout
