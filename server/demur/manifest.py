"""The model manifest, `demur.json` beside the weights: what a model was trained to print, how far to trust it."""

import json
import logging
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, ValidationError, field_validator

from demur.core.answers import Aggregation
from demur.core.contracts import CONTRACTS
from demur.field_types import KeyOf
from demur.measured import Example, Measured
from demur.named_file import FileError, printable, read_file, shown
from demur.prompts import Domain

FILE_NAME = "demur.json"
MOST_BYTES = 4 << 20
"""Of a manifest; what training and evaluation note in it takes some kilobytes."""
_PROBLEMS_TOLD = 5
_HUB_ID = re.compile(r"[\w-][\w.-]{0,95}/[\w-][\w.-]{0,95}", re.ASCII)

logger = logging.getLogger(__name__)


class ManifestError(ValueError):
    """A `demur.json` that cannot be used; the message names the file, the field and what is wrong with it."""


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("has characters that cannot be printed")
    return text


def _inside(path: str) -> str:
    parts = path.split("/")
    if path.startswith(("/", "~")) or "\\" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError("has to be a path inside the model folder, or a hub id such as org/name")
    if any(wild in path for wild in "*?["):
        raise ValueError("has wildcards in it")
    return path


Line = Annotated[str, Field(max_length=500), AfterValidator(_one_line)]
"""Text that is shown on terminals and in logs."""
Contracts = Annotated[tuple[Annotated[str, KeyOf(CONTRACTS)], ...], Field(min_length=1, max_length=64), FailFast()]


class SamplingDefaults(BaseModel):
    """How a sample is drawn when the caller does not say; `max_tokens` counts the completion alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    max_tokens: Annotated[int, Field(ge=1, le=1 << 24)] = 1024


class Critic(BaseModel):
    """The value model of a PPO run (arXiv:2512.19920, section 3.2). `path` is in the model folder, or a hub id.

    `scale` says what its value V is: `unit` means V is the probability itself, `signed` means p = (V + 1) / 2.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Annotated[Line, AfterValidator(_inside)]
    scale: Literal["unit", "signed"] = "unit"

    def probability(self, value: float) -> float | None:
        """The chance of success that V stands for, in [0, 1]; None where V is no number."""
        if not math.isfinite(value):
            return None
        return min(max((value + 1) / 2 if self.scale == "signed" else value, 0.0), 1.0)


class Manifest(BaseModel):
    """What is known about a served model. `contracts` lists what it can be asked to print, the default first.

    A model without a `demur.json` counts as one that nobody trained: it may be asked under every contract.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[Line, Field(min_length=1)]
    calibrated: bool = False
    contracts: Contracts = ("response",)
    aggregation: Aggregation = "min"
    recipe: Line | None = None
    base: Line | None = None
    sampling: SamplingDefaults = SamplingDefaults()
    critic: Critic | None = None
    training: Mapping[str, Any] = Field(default_factory=dict)
    metrics: Mapping[str, Any] = Field(default_factory=dict)
    examples: Annotated[tuple[Example, ...], Field(max_length=8)] = ()
    """Questions that show what the model does."""
    measured: Mapping[str, Measured] = Field(default_factory=dict)
    """By contract: how far the confidences were true."""

    @field_validator("contracts")
    @classmethod
    def _without_repeats(cls, contracts: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(contracts)) != len(contracts):
            raise ValueError("a contract is listed twice")
        return contracts

    @property
    def domain(self) -> Domain:
        """The wording of the prompts that the model was trained with; the general one where none is named."""
        return "maths" if self.training.get("domain") == "maths" else "general"

    @property
    def was_trained(self) -> bool:
        """Whether the model has learned the prompts of its contracts, even if nobody calibrated it."""
        return self.calibrated or self.recipe is not None or bool(self.training)

    @classmethod
    def uncalibrated(cls, name: str) -> Self:
        """A model nobody trained here: it can be forced into the form of every contract. Raises ManifestError."""
        return cls._named(name, contracts=tuple(CONTRACTS))

    @classmethod
    def load(cls, model: str | Path) -> Self:
        """The manifest of a model folder or of a hub id; `uncalibrated` where there is none. Raises ManifestError."""
        folder = Path(model).expanduser()
        path = folder / FILE_NAME if folder.is_dir() else _fetch(str(model))
        if path is None or not os.path.lexists(path):
            return cls.uncalibrated(folder.resolve().name if folder.is_dir() else str(model))
        return cls.read(path)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The manifest in one file. Raises ManifestError."""
        try:
            return cls.model_validate_json(read_file(path, MOST_BYTES)[0], strict=True)
        except FileError as error:
            raise ManifestError(str(error)) from None
        except ValidationError as error:
            raise ManifestError(f"{shown(path)}: {_problems(error)}") from error

    @classmethod
    def _named(cls, name: str, **fields: Any) -> Self:
        """For a model without a manifest, whose name comes from elsewhere."""
        try:
            return cls(name=name, **fields)
        except ValidationError as error:
            raise ManifestError(f"the model's name {printable(name, 100)} cannot be used: {_problems(error)}") from None

    def write(self, folder: Path) -> None:
        """Put the manifest beside the weights in `folder`."""
        text = json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False)
        (folder / FILE_NAME).write_text(text + "\n", encoding="utf-8")


def is_hub_id(name: str) -> bool:
    """Whether this can be the id of a hub repository, as `org/name`."""
    return _HUB_ID.fullmatch(name) is not None and ".." not in name and "--" not in name


def _problems(error: ValidationError) -> str:
    """The first few. Names of fields come out of the file and may hold anything."""
    details = error.errors(include_input=False, include_url=False)
    told = [_problem(detail["loc"], detail["msg"]) for detail in details[:_PROBLEMS_TOLD]]
    more = len(details) - len(told)
    return "; ".join([*told, f"and {more:,} more"] if more else told)


def _problem(location: tuple[int | str, ...], message: str) -> str:
    field = ".".join(str(part) for part in location)
    return printable(f"{field}: {message}" if field else message)


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
