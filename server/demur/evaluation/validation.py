"""Settings that contradict each other, found before anything is asked."""

from demur.evaluation.asking.endpoint import host_of
from demur.evaluation.datasets import GraderName
from demur.evaluation.errors import EvaluationError
from demur.evaluation.run_config import RunConfig


def check(config: RunConfig, grader: GraderName) -> None:
    """Raise EvaluationError naming the option that does not fit; `grader` is what the dataset came to."""
    for message, applies in _contradictions(config, grader).items():
        if applies:
            raise EvaluationError(message)
    for address in (config.base_url, config.judge_base_url or config.base_url):
        host_of(address)
    _ = config.grid, config.extra, config.judge_extra  # they raise where their text cannot be read


def _contradictions(config: RunConfig, grader: GraderName) -> dict[str, bool]:
    chat, claims, explicit = config.api == "chat", config.contract == "claims", config.contract == "explicit_risk"
    critic, judged = config.confidence_source == "critic", config.judge_model is not None
    return {
        "--model is needed with --api chat": chat and config.model is None,
        "--confidence-source needs --api answers: a bare chat host has no critic": chat and critic,
        "--confidence-source critic values whole answers: leave out --granularity claims": (
            critic and config.granularity == "claims"
        ),
        "--confidence-source critic values whole answers: leave out --aggregation": (
            critic and config.aggregation is not None
        ),
        "--confidence-source critic does not fit --contract explicit_risk: there is no confidence to replace": (
            critic and explicit
        ),
        "--granularity claims needs --contract claims": config.granularity == "claims" and not claims,
        "--aggregation needs --contract claims": config.aggregation is not None and not claims,
        "--granularity claims needs --judge-model: nobody else can say whether a claim is right": (
            config.granularity == "claims" and not judged
        ),
        "--selection needs --samples above 1": config.selection is not None and config.samples < 2,
        "--selection does not fit --contract explicit_risk: there is no confidence to choose by": (
            config.selection is not None and explicit
        ),
        "the simpleqa grader needs --judge-model": grader == "simpleqa" and not judged,
    }
