"""The calibrators of one server: files that are followed, so that a new one counts without a restart."""

import asyncio
import logging
import os
from collections.abc import Sequence
from errno import ENOENT
from pathlib import Path

from demur.calibration.calibrator_file import read
from demur.calibration.errors import CalibratorFileError
from demur.calibration.matching import ServedCalibrator
from demur.calibration.versions import shadow_of

logger = logging.getLogger(__name__)

INTERVAL = 1.0
"""Seconds between two looks at the files."""


class CalibratorStore:
    """Calibrators from files, in the order in which they are asked whether they fit a request. What stands beside a
    file under the name of its shadow is followed as well, and never asked.

    Raises CalibratorFileError when it is made of a file that cannot be served. Later a file that is gone, damaged or
    unfit withdraws its calibrator at once: what it promises can no longer be vouched for. `fingerprint` is the served
    model's; a calibrator of another model is kept and never applied. `interval` is in seconds, between two looks at the
    files.
    """

    def __init__(self, paths: Sequence[Path] = (), fingerprint: str = "", *, interval: float = INTERVAL) -> None:
        self.fingerprint = fingerprint
        self._interval = interval
        self._followed = [_Followed(path) for path in paths]
        self._beside = [_Followed(shadow_of(path), optional=True) for path in paths]
        for followed in [*self._followed, *self._beside]:
            self._warn(followed.served)

    def __bool__(self) -> bool:
        return bool(self._followed)

    @property
    def loaded(self) -> Sequence[ServedCalibrator]:
        """Those whose files could be read at the last look, also those of another model."""
        return [one.served for one in self._followed if one.served is not None]

    @property
    def fitting(self) -> Sequence[ServedCalibrator]:
        """Those of the served model."""
        return [one for one in self.loaded if one.other_model(self.fingerprint) is None]

    @property
    def shadows(self) -> Sequence[ServedCalibrator]:
        """Those of the served model that compute beside the others, without effect on replies."""
        found = [one.served for one in self._beside if one.served is not None]
        return [one for one in found if one.other_model(self.fingerprint) is None]

    @property
    def trouble(self) -> str | None:
        """Why no calibrator fits the served model; None where one does."""
        problems = [one.problem for one in self._followed if one.problem is not None]
        other = [f"{one.name}: {one.other_model(self.fingerprint)}" for one in self.loaded]
        return None if self.fitting else next(iter([*problems, *other]), "no calibrator is loaded")

    @property
    def complete(self) -> bool:
        """Whether every file was read and is of the served model."""
        return bool(self._followed) and len(self.fitting) == len(self._followed)

    def refresh(self) -> None:
        """Read the files again that changed. Never raises; what is wrong is logged when it begins."""
        for followed in [*self._followed, *self._beside]:
            if followed.look():
                self._warn(followed.served)

    async def watch(self) -> None:
        """Refresh for ever, in a thread: a file may be on a mount that hangs."""
        while self._followed:
            await asyncio.sleep(self._interval)
            await asyncio.to_thread(self.refresh)

    def _warn(self, served: ServedCalibrator | None) -> None:
        if served is not None and (why := served.other_model(self.fingerprint)) is not None:
            logger.warning("a calibrator is not applied", extra={"fields": {"file": served.name, "cause": why}})


class _Followed:
    """One file as it was at the last look. One that is `optional` may be absent, or unfit, from the start."""

    def __init__(self, path: Path, *, optional: bool = False) -> None:
        self._path, self._optional = path, optional
        self._seen = ENOENT if optional else _look_at(path)
        self.problem: str | None = None
        self.served: ServedCalibrator | None = None
        if optional:
            self.look()
        else:
            self.served = ServedCalibrator(read(path), path.name)

    def look(self) -> bool:
        """Read the file if it changed; whether another calibrator is served now."""
        seen = _look_at(self._path)
        if seen == self._seen:
            return False
        self._seen, before = seen, self.served
        if self._optional and seen == ENOENT:
            self.served = self.problem = None
            return False
        try:
            self.served, self.problem = ServedCalibrator(read(self._path), self._path.name), None
        except CalibratorFileError as error:
            self.served, self.problem = None, str(error)
            logger.error("a calibrator was withdrawn", extra={"fields": {"cause": self.problem}})
            return False
        logger.info("a calibrator was read again", extra={"fields": {"id": self.served.calibrator.id}})
        return before is None or before.calibrator.id != self.served.calibrator.id


def _look_at(path: Path) -> object:
    """What changes whenever the file does."""
    try:
        found = os.stat(path)
    except OSError as error:
        return error.errno
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size
