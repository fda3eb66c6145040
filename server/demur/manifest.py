"""The model manifest, `demur.json` beside the weights: what a model was trained to print, how far to trust it."""

import json
import logging
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from demur.core.answers import CONTRACTS, Aggregation, Contract

FILE_NAME = "demur.json"

logger = logging.getLogger(__name__)


class ManifestError(ValueError):
    """A `demur.json` that cannot be used; the message names the file, the field and what is wrong with it."""


class SamplingDefaults(BaseModel):
    """How a sample is drawn when the caller does not say; `max_tokens` counts the completion alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    max_tokens: Annotated[int, Field(ge=1)] = 1024


class Critic(BaseModel):
    """The value model of a PPO run (paper section 3.2). `path` is relative to the model folder, or a hub id.

    `scale` says what its value V is: `unit` means V is the probability itself, `signed` means p = (V + 1) / 2.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    scale: Literal["unit", "signed"] = "unit"

    def probability(self, value: float) -> float | None:
        """The chance of success that V stands for, in [0, 1]; None where V is no number."""
        if not math.isfinite(value):
            return None
        return min(max((value + 1) / 2 if self.scale == "signed" else value, 0.0), 1.0)


class Manifest(BaseModel):
    """What is known about a served model. `contracts` lists what it can be asked to print, the default first.

    A model without a `demur.json` gets the defaults: nobody calibrated it, and it is read at response level.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(min_length=1)]
    calibrated: bool = False
    contracts: Annotated[tuple[Contract, ...], Field(min_length=1)] = ("response",)
    aggregation: Aggregation = "min"
    recipe: str | None = None
    base: str | None = None
    sampling: SamplingDefaults = SamplingDefaults()
    critic: Critic | None = None
    training: Mapping[str, Any] = Field(default_factory=dict)
    metrics: Mapping[str, Any] = Field(default_factory=dict)

    @field_validator("contracts")
    @classmethod
    def _without_repeats(cls, contracts: tuple[Contract, ...]) -> tuple[Contract, ...]:
        if len(set(contracts)) != len(contracts):
            raise ValueError("a contract is listed twice")
        return contracts

    @classmethod
    def uncalibrated(cls, name: str) -> Self:
        """A model nobody trained here, forced into every contract by structured outputs."""
        return cls(name=name, contracts=CONTRACTS)

    @classmethod
    def load(cls, model: str | Path) -> Self:
        """The manifest of a model folder or of a hub id; the defaults where there is none. Raises ManifestError."""
        folder = Path(model).expanduser()
        path = folder / FILE_NAME if folder.is_dir() else _fetch(str(model))
        if path is None or not path.is_file():
            return cls(name=folder.resolve().name if folder.is_dir() else str(model))
        return cls.read(path)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The manifest in one file. Raises ManifestError."""
        try:
            return cls.model_validate_json(path.read_bytes(), strict=True)
        except ValidationError as error:
            problems = "; ".join(_problem(detail["loc"], detail["msg"]) for detail in error.errors())
            raise ManifestError(f"{path}: {problems}") from error

    def write(self, folder: Path) -> None:
        """Put the manifest beside the weights in `folder`."""
        text = json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False)
        (folder / FILE_NAME).write_text(text + "\n", encoding="utf-8")


def _problem(location: tuple[int | str, ...], message: str) -> str:
    field = ".".join(str(part) for part in location)
    return f"{field}: {message}" if field else message


def _fetch(hub_id: str) -> Path | None:
    """`demur.json` of a hub repository, from the hub or its cache; None where there is none or no hub to ask."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(hf_hub_download(hub_id, FILE_NAME))
    except (EntryNotFoundError, HfHubHTTPError, HFValidationError) as error:
        # The hub said no, or the name is no hub id: either is an answer. No hub at all is not.
        if isinstance(error, LocalEntryNotFoundError):
            logger.warning("no hub to ask whether %s has a %s: served as not calibrated", hub_id, FILE_NAME)
        return None
