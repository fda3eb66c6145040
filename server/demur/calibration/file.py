"""The calibrator file: a small JSON, format 1, without any text of questions or answers, read strictly."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from demur.calibration.errors import CalibratorFileError
from demur.core.answers import Aggregation, Granularity
from demur.core.calibration.maps import Identity, Isotonic, Logistic, Map
from demur.core.calibration.signals import Floats
from demur.core.contracts import CONTRACTS
from demur.fields import KeyOf
from demur.named_file import FileError, printable, read_file, shown

FORMAT = 1
MOST_BYTES = 1 << 20
_PROBLEMS_TOLD = 3

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
"""Of a signal."""
Line = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""A name that is shown on terminals."""
Unit = Annotated[float, Field(ge=0, le=1)]
Inner = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=0)]
Value = bool | int | float | Line | None


class Part(BaseModel):
    """Strict: no field too many, no number as text, nothing infinite."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Model(Part):
    """The model the graded answers came from."""

    name: Line | None
    fingerprint: Line | None


class IdentityMap(Part):
    """One signal as it is."""

    kind: Literal["identity"]
    signal: Name


class LogisticMap(Part):
    """Logistic regression on the log odds of the signals, in their order."""

    kind: Literal["logistic"]
    intercept: float
    weights: tuple[float, ...]
    missing: tuple[float, ...]

    def built(self) -> Logistic:
        """The map itself. Raises ValueError for numbers that make none."""
        return Logistic(self.intercept, self.weights, self.missing)


class IsotonicMap(Part):
    """An isotonic curve over a logistic map."""

    kind: Literal["isotonic"]
    score: LogisticMap
    x: tuple[float, ...]
    y: tuple[float, ...]


class Figure(Part):
    """A figure and its 95 % interval; null ends where there is none."""

    value: float
    low: float | None
    high: float | None


class Certification(Part):
    """How the thresholds were certified. `exact` is false where the promise is approximate.

    `rows` are independent rows, one a problem. `look` counts the tries while more answers were graded, 0 where their
    number was fixed beforehand.
    """

    mode: Literal["split", "cross-fit", "raw"]
    exact: bool
    rows: Count
    delta: Inner
    simultaneous: bool
    look: Count
    seed: Count


class Guarantee(Part):
    """At most `max_error` of the answers with confidence >= `threshold` are wrong, with probability 1 - `delta`.

    `threshold` is null where nothing could be certified, and `reason` says why.
    """

    max_error: Inner
    delta: Inner
    threshold: Unit | None
    answered: Count
    wrong: Count
    coverage: Unit
    reason: Annotated[str, StringConstraints(max_length=500)] | None

    @model_validator(mode="after")
    def _reason_without_threshold(self) -> Self:
        if (self.threshold is None) != (self.reason is not None):
            raise ValueError("threshold is null exactly where reason says why")
        if self.wrong > self.answered:
            raise ValueError("wrong is above answered")
        return self


class Group(Part):
    """One kind of question among the rows: how many, the share that is right, and the mean confidence."""

    rows: Count
    right: Unit
    confidence: Unit | None


class Calibrator(Part):
    """A calibrator: the map, what it was made from, what it may be applied to, and what it promises.

    `level` says whether rows were whole answers or claims, `questions` in a few words what was asked. `sampling` holds
    every field of the request that changes what is drawn; null is the server's default.
    """

    format: Literal[1]
    id: Annotated[str, StringConstraints(pattern=r"^cal_[0-9A-Z]{26}$")]
    parent: Annotated[str, StringConstraints(pattern=r"^cal_[0-9A-Z]{26}$")] | None
    made: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    digest: str
    model: Model | None
    level: Literal["response", "claims"]
    contract: Annotated[str, KeyOf(CONTRACTS)] | None
    questions: Line | None = None
    prompt: Line | None
    granularity: Granularity | None
    aggregation: Aggregation | None
    sampling: Mapping[Line, Value]
    signals: Annotated[tuple[Name, ...], Field(min_length=1, max_length=32)]
    map: Annotated[IdentityMap | LogisticMap | IsotonicMap, Field(discriminator="kind")]
    rows: Count
    problems: Count
    before: Mapping[Name, Figure | None]
    after: Mapping[Name, Figure | None]
    certification: Certification
    guarantees: tuple[Guarantee, ...]
    smallest_max_error: Inner | None
    groups: Mapping[Line, Group]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if len(set(self.signals)) != len(self.signals):
            raise ValueError("signals: one is named twice")
        self.built()(np.full((1, len(self.signals)), np.nan))
        levels = [guarantee.max_error for guarantee in self.guarantees]
        if levels != sorted(set(levels)):
            raise ValueError("guarantees: max_error has to rise")
        return self

    def built(self) -> Map:
        """The map as the core applies it. Raises ValueError for numbers that make none."""
        if isinstance(self.map, IdentityMap):
            if self.map.signal not in self.signals:
                raise ValueError(f"map.signal: {self.map.signal} is not among the signals")
            return Identity(self.signals.index(self.map.signal))
        if isinstance(self.map, LogisticMap):
            return self.map.built()
        return Isotonic(self.map.score.built(), self.map.x, self.map.y)

    def confidence(self, signals: Floats) -> Floats:
        """P(correct) of answers (n, k), columns as in `signals`; NaN where every signal that counts is missing."""
        return self.built()(signals)

    def guarantee_for(self, max_error: float) -> Guarantee | None:
        """The one that serves a request: the greatest certified level not above what it asks, else None."""
        held = [g for g in self.guarantees if g.threshold is not None and g.max_error <= max_error]
        return held[-1] if held else None


def map_fields(fitted: Map, signals: tuple[str, ...]) -> dict[str, Any]:
    """A map as the file holds it."""
    if isinstance(fitted, Identity):
        return {"kind": "identity", "signal": signals[fitted.signal]}
    if isinstance(fitted, Logistic):
        numbers = {"intercept": fitted.intercept, "weights": fitted.weights, "missing": fitted.missing}
        return {"kind": "logistic", **numbers}
    return {"kind": "isotonic", "score": map_fields(fitted.score, signals), "x": fitted.x, "y": fitted.y}


def sealed(fields: Mapping[str, Any]) -> Calibrator:
    """A calibrator from its fields without `format`, `id` and `digest`, which follow from the others.

    Raises CalibratorFileError, which names the field, for fields that make none.
    """
    blank = {"format": FORMAT, "id": "cal_" + "0" * 26, "digest": ""}
    try:
        content = Calibrator.model_validate_json(json.dumps({**fields, **blank})).model_dump(mode="json")
    except ValidationError as error:
        raise CalibratorFileError(f"these rows make no calibrator: {_told(error)}") from None
    content["id"] = "cal_" + base64.b32encode(hashlib.sha256(_canonical(content)).digest()).decode()[:26]
    return Calibrator.model_validate_json(json.dumps({**content, "digest": digest_of(content)}))


def digest_of(content: Mapping[str, Any]) -> str:
    """A checksum of everything but itself. It shows damage and edits; it is no signature, anyone can make one."""
    rest = {name: value for name, value in content.items() if name != "digest"}
    return "sha256:" + hashlib.sha256(_canonical(rest)).hexdigest()


def write(path: Path, calibrator: Calibrator) -> None:
    """Write a calibrator in one step, so that a server which follows the file never reads half of one.

    Raises CalibratorFileError.
    """
    text = json.dumps(calibrator.model_dump(mode="json"), indent=1, ensure_ascii=False, allow_nan=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        beside.write_text(text + "\n", encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise CalibratorFileError(f"cannot write {shown(path)}: {error.strerror}") from None


def read(path: Path) -> Calibrator:
    """Read a calibrator.

    Raises CalibratorFileError, which names the field, for a file that is damaged, edited, of a newer format, or none.
    """
    try:
        text = read_file(path, MOST_BYTES)[0].decode("utf-8")
        content = json.loads(text, parse_constant=_refuse_constant)
    except FileError as error:
        raise CalibratorFileError(str(error)) from None
    except (ValueError, RecursionError) as error:
        raise CalibratorFileError(f"{shown(path)} is no calibrator: {printable(str(error), 200)}") from None
    _check_format(content, path)
    try:
        calibrator = Calibrator.model_validate_json(text)
    except ValidationError as error:
        raise CalibratorFileError(f"{shown(path)}: {_told(error)}") from None
    if calibrator.digest != digest_of(content):
        raise CalibratorFileError(
            f"{shown(path)}: digest: the file was changed after demur calibrate wrote it, so what it promises may not"
            " hold; make it again"
        )
    return calibrator


def _check_format(content: Any, path: Path) -> None:
    if not isinstance(content, dict) or "format" not in content:
        raise CalibratorFileError(f"{shown(path)} is no calibrator: format: the field is missing")
    found = content["format"]
    if isinstance(found, int) and not isinstance(found, bool) and found > FORMAT:
        raise CalibratorFileError(f"{shown(path)}: format: {found} is of a newer demur; this one reads {FORMAT}")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number that JSON has")


def _canonical(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _told(error: ValidationError) -> str:
    details = error.errors(include_input=False, include_url=False, include_context=False)
    told = [printable(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}", 200) for detail in details]
    more = [f"and {len(told) - _PROBLEMS_TOLD} more"] if len(told) > _PROBLEMS_TOLD else []
    return "; ".join([*told[:_PROBLEMS_TOLD], *more])
