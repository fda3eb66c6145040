"""The port for engine loaders: from settings to a running engine with the manifest of its model."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from demur.engine.base import Engine
from demur.engine.critic import LazyCritic
from demur.manifest import Manifest

if TYPE_CHECKING:
    from demur.settings import Settings


@dataclass(frozen=True, slots=True)
class Loaded:
    """A running engine, the manifest of its model, and the critic where one is served. Whoever gets it closes it.

    `fingerprint` tells the model from others, by its name where there is none; `calibrators` are files that come with
    the model, for a server whose operator names no others.
    """

    engine: Engine
    manifest: Manifest
    critic: LazyCritic | None = None
    fingerprint: str | None = None
    calibrators: tuple[Path, ...] = ()


class EngineLoader(Protocol):
    """One kind of engine; the value of `--engine` is its key in `ENGINES`."""

    @property
    def takes_arguments(self) -> bool:
        """Whether engine arguments (`--engine-arg`, and what stands after `--`) mean something to it."""
        ...

    @property
    def compares_formulas(self) -> bool:
        """Whether equal answers of a vote are found by algebra, in a process beside the server."""
        ...

    async def load(self, settings: "Settings", arguments: Mapping[str, Any]) -> Loaded:
        """Start the engine, with progress on standard error. Raises CannotLoad, which says why and what to do."""
        ...
