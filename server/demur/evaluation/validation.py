"""Settings that contradict each other, found before anything is asked."""

from demur.core.contracts import CONTRACTS
from demur.evaluation.asking.endpoint import host_of
from demur.evaluation.datasets import GraderName
from demur.evaluation.errors import EvaluationError
from demur.evaluation.run_config import RunConfig


def check(config: RunConfig, grader: GraderName) -> None:
    """Raise EvaluationError naming the option that does not fit; `grader` is what the dataset came to."""
    found = _of_the_host(config) | _of_confidences(config) | _of_grading(config, grader)
    for message, applies in found.items():
        if applies:
            raise EvaluationError(message)
    for address in (config.base_url, config.judge_base_url or config.base_url):
        host_of(address)
    _ = config.grid, config.extra, config.judge_extra  # they raise where their text cannot be read


def _of_the_host(config: RunConfig) -> dict[str, bool]:
    """What a bare chat host cannot do, and what a demur server does by itself."""
    contract, source = CONTRACTS[config.contract], config.confidence_source
    chat, unstated = config.api == "chat", not contract.states_confidence
    whole = source not in (None, "verbalized")
    return {
        "--bare needs --api chat: a demur server always asks under a contract": config.bare and not chat,
        "--bare asks for no confidence: leave out --selection": config.bare and config.selection is not None,
        "--bare asks for no confidence: leave out --contract": config.bare and (contract.has_claims or unstated),
        "--model is needed with --api chat": chat and config.model is None,
        f"--confidence-source {source} needs --api answers: a bare chat host has no {source}": chat and whole,
        "--include-signals needs --api answers: a bare chat host shows none": chat and bool(config.signals),
        "--max-error needs --api answers: a bare chat host keeps no error rate": chat and config.max_error is not None,
        "--prompt-wording needs --api chat: a demur server words its prompts itself": (
            not chat and config.prompt_wording != "trained"
        ),
    }


def _of_confidences(config: RunConfig) -> dict[str, bool]:
    """Sources of confidence, error rates and selection rules that do not fit the contract or each other."""
    contract, source = CONTRACTS[config.contract], config.confidence_source
    unstated, whole = not contract.states_confidence, source not in (None, "verbalized")
    promised = config.max_error is not None
    return {
        "agreement compares samples that the server draws: give --samples above 1 and --selection majority": (
            "agreement" in (source, *config.signals) and not config.chooses_there
        ),
        f"--confidence-source {source} is for whole answers: leave out --granularity claims": (
            whole and config.granularity == "claims"
        ),
        f"--confidence-source {source} is for whole answers: leave out --aggregation": (
            whole and config.aggregation is not None
        ),
        f"--confidence-source {source} does not fit --contract {contract.name}: there is no confidence to replace": (
            whole and unstated
        ),
        f"--max-error does not fit --contract {contract.name}: it decides without a confidence": promised and unstated,
        f"--max-error is kept by calibrated confidences: leave out --confidence-source {source}": (
            promised and source not in (None, "calibrated")
        ),
        "--selection needs --samples above 1": config.selection is not None and config.samples < 2,
        f"--selection does not fit --contract {contract.name}: there is no confidence to choose by": (
            config.selection is not None and unstated
        ),
    }


def _of_grading(config: RunConfig, grader: GraderName) -> dict[str, bool]:
    """Claims where there are none, and judgements without a judge."""
    claims, judged = CONTRACTS[config.contract].has_claims, config.judge_model is not None
    return {
        "--granularity claims needs --contract claims": config.granularity == "claims" and not claims,
        "--aggregation needs --contract claims": config.aggregation is not None and not claims,
        "--granularity claims needs --judge-model: nobody else can say whether a claim is right": (
            config.granularity == "claims" and not judged
        ),
        "the simpleqa grader needs --judge-model": grader == "simpleqa" and not judged,
    }
