"""What the operator's settings and the model's manifest decide where a request does not."""

from demur.answering.tail_forcing import Forced
from demur.manifest import Manifest
from demur.settings import Settings


def default_threshold(settings: Settings) -> float:
    """The risk threshold in [0, 1] of a request that names none: the operator's, or the least that this caller may ask
    with where that is higher."""
    return max(settings.risk_threshold, settings.min_risk_threshold)


def is_bounded(settings: Settings) -> bool:
    """Whether this caller may only see what reaches a threshold that somebody else has set."""
    return settings.min_risk_threshold > 0 and not settings.withheld_allowed


def forcing(settings: Settings, manifest: Manifest) -> Forced:
    """What of an output is forced into its form: a model that was not calibrated was not trained to it either."""
    if settings.force_contract != "auto":
        return settings.force_contract
    return "never" if manifest.calibrated else "tail"


def trained_wording(settings: Settings, manifest: Manifest) -> bool:
    """Whether prompts have the wording that models are trained with: for models that were trained, whatever for."""
    return manifest.was_trained if settings.prompt_wording == "auto" else settings.prompt_wording == "trained"
