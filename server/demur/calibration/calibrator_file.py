"""Calibrator files: JSON with a checksum, written in one step and read strictly."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from demur.calibration.calibrator import Calibrator
from demur.calibration.errors import CalibratorFileError
from demur.core.calibration.maps import Identity, Logistic, Map
from demur.named_file import FileError, printable, read_file, shown

FORMAT = 1
MOST_BYTES = 1 << 20
_PROBLEMS_TOLD = 3


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
    _check_unchanged(content, path)
    try:
        return Calibrator.model_validate_json(text)
    except ValidationError as error:
        raise CalibratorFileError(f"{shown(path)}: {_told(error)}") from None


def _check_format(content: Any, path: Path) -> None:
    if not isinstance(content, dict) or "format" not in content:
        raise CalibratorFileError(f"{shown(path)} is no calibrator: format: the field is missing")
    found = content["format"]
    if isinstance(found, int) and not isinstance(found, bool) and found > FORMAT:
        raise CalibratorFileError(f"{shown(path)}: format: {found} is of a newer demur; this one reads {FORMAT}")


def _check_unchanged(content: Mapping[str, Any], path: Path) -> None:
    """Before the fields, whose faults would be those of whoever changed them."""
    try:
        changed = isinstance(content.get("digest"), str) and content["digest"] != digest_of(content)
    except (ValueError, RecursionError):  # an infinite number, or something nested that nobody wrote
        changed = True
    if changed:
        raise CalibratorFileError(
            f"{shown(path)}: digest: the file was changed after demur calibrate wrote it, so what it promises may not"
            " hold; make it again"
        )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number that JSON has")


def _canonical(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _told(error: ValidationError) -> str:
    details = error.errors(include_input=False, include_url=False, include_context=False)
    told = [
        printable(f"{'.'.join(map(str, detail['loc']))}: {detail['msg'].removeprefix('Value error, ')}", 200)
        for detail in details
    ]
    more = [f"and {len(told) - _PROBLEMS_TOLD} more"] if len(told) > _PROBLEMS_TOLD else []
    return "; ".join([*told[:_PROBLEMS_TOLD], *more])
