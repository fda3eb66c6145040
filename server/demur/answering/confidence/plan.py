"""Which signals one request needs, and in which order they can be computed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from demur.answering.confidence.base import ConfidenceSource, ScoringServices


@dataclass(frozen=True, slots=True)
class Wanted:
    """Signals by name, each after those it is made of; without the `decisive` ones there can be no decision.

    `logprobs` are those of the samples' tokens, `calls` the further ones to the model that they take.
    """

    names: tuple[str, ...]
    decisive: tuple[str, ...]
    logprobs: bool = False
    calls: int = 0


def wanted(
    source: str, shown: Iterable[str], sources: Mapping[str, ConfidenceSource], services: ScoringServices
) -> Wanted:
    """The signals to compute for a request that is decided by `source` and shows the signals `shown`."""
    names = _in_order([source, *shown], sources, services)
    needs = [sources[name].needs(services) for name in names]
    return Wanted(
        names=names,
        decisive=_in_order([source], sources, services),
        logprobs=any(need.logprobs for need in needs),
        calls=sum(need.calls for need in needs),
    )


def _in_order(
    names: Iterable[str], sources: Mapping[str, ConfidenceSource], services: ScoringServices
) -> tuple[str, ...]:
    """The named signals and those that they are made of, each after what it needs, each once."""
    found: dict[str, None] = {}
    for name in names:
        _collect(name, sources, services, found)
    return tuple(found)


def _collect(
    name: str, sources: Mapping[str, ConfidenceSource], services: ScoringServices, found: dict[str, None]
) -> None:
    if name in found:
        return
    for needed in sources[name].needs(services).signals:
        _collect(needed, sources, services, found)
    found[name] = None
