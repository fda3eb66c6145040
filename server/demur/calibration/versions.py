"""The versions of a served calibrator: kept in a folder beside its file, so that going back is one command.

A server follows `calibrator.json`. What it ever held stands in `calibrator.versions/`, one file a version by its id,
and `used.json` there says in which order they were served. Replacing the file is all that it takes to switch: the
server looks at it every second.
"""

import fcntl
import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from demur.calibration.calibrator import Calibrator
from demur.calibration.calibrator_file import read, write
from demur.calibration.errors import CalibrationError, CalibratorFileError
from demur.calibration.matching import ServedCalibrator
from demur.named_file import shown

State = Literal["served", "shadow", "kept"]


def shadow_of(served: Path) -> Path:
    """The file of the calibrator that computes beside the served one."""
    return served.with_suffix(".shadow.json")


@dataclass(frozen=True, slots=True)
class Version:
    """One calibrator that was ever served or tried in this place, and what it is now."""

    calibrator: Calibrator
    state: State


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of the calibrator that a server follows as `served`. Methods raise CalibrationError."""

    served: Path

    @property
    def folder(self) -> Path:
        return self.served.with_suffix(".versions")

    def all(self) -> list[Version]:
        """Every version, the newest first."""
        now, beside = self.current(), _readable(shadow_of(self.served))
        found = {one.id: one for one in [*_readable_in(self.folder), now, beside] if one is not None}
        states: dict[str, State] = {} if beside is None else {beside.id: "shadow"}
        states |= {} if now is None else {now.id: "served"}
        ordered = sorted(found.values(), key=lambda one: (one.made, one.id), reverse=True)
        return [Version(one, states.get(one.id, "kept")) for one in ordered]

    def current(self) -> Calibrator | None:
        """What is served; None where the file is absent or damaged, so that nothing is."""
        return _readable(self.served)

    def find(self, chosen: str) -> Calibrator:
        """A version by its file, or by its id or the beginning of it."""
        if Path(chosen).is_file():
            return read(Path(chosen))
        found = [one.calibrator for one in self.all() if one.calibrator.id.startswith(chosen)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise CalibrationError(
                f"{chosen!r:.200} is no file, and no version of {shown(self.served)} has such an id;"
                " demur calibrators list shows them"
            )
        raise CalibrationError(f"{chosen!r:.200} begins the ids of {len(found)} versions; write more of it")

    def use(self, chosen: str, *, anyway: bool = False) -> Calibrator:
        """Serve a version in place of the present one, which is kept. `anyway` also takes one for another model, form
        or level than the present one's."""
        with self._alone():
            new, before = self.find(chosen), self.current()
            _check_served(new, before, anyway=anyway)
            used = self._used()
            if before is not None:
                self._keep(before)
                used += [] if used[-1:] == [before.id] else [before.id]
            self._serve(new, used if used[-1:] == [new.id] else [*used, new.id])
        return new

    def back(self) -> Calibrator:
        """Serve what was served before the present one; again, what was served before that."""
        with self._alone():
            used, before = self._used(), self.current()
            if before is not None:
                self._keep(before)
                used += [] if before.id in used[-1:] else [before.id]
            if len(used) < 2:
                raise CalibrationError(f"nothing was served as {shown(self.served)} before")
            new = self.find(used[-2])
            self._serve(new, used[:-1])
        return new

    def try_beside(self, chosen: str) -> Calibrator:
        """Let a version compute beside the served one, without effect on replies."""
        with self._alone():
            new, before = self.find(chosen), self.current()
            if before is None:
                raise CalibrationError(f"{shown(self.served)} serves nothing that another one could be compared with")
            if new.id == before.id:
                raise CalibrationError(f"{new.id} is served already")
            _check_served(new, before, anyway=False)
            self._keep(new)
            write(shadow_of(self.served), new)
        return new

    def end_shadow(self) -> None:
        """Let nothing compute beside the served one any more."""
        shadow_of(self.served).unlink(missing_ok=True)

    def _serve(self, new: Calibrator, used: Sequence[str]) -> None:
        self._keep(new)
        write(self.served, new)
        beside = self.folder / "used.json"
        beside.with_suffix(".new").write_text(json.dumps({"used": list(used)}, indent=1) + "\n", encoding="utf-8")
        beside.with_suffix(".new").replace(beside)
        if (tried := _readable(shadow_of(self.served))) is not None and tried.id == new.id:
            self.end_shadow()

    def _keep(self, one: Calibrator) -> None:
        write(self.folder / f"{one.id}.json", one)

    def _used(self) -> list[str]:
        """Ids in the order in which they were served; those that cannot be told any more are forgotten."""
        try:
            found = json.loads((self.folder / "used.json").read_text(encoding="utf-8"))["used"]
        except (OSError, ValueError, KeyError, TypeError):
            return []
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []

    @contextmanager
    def _alone(self) -> Generator[None]:
        """While nobody else switches the same calibrator."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise CalibrationError(f"{shown(self.folder)}: {error.strerror}") from None


def _check_served(new: Calibrator, before: Calibrator | None, *, anyway: bool) -> None:
    """Raise for a calibrator that no server takes, or that would not be applied where the present one is."""
    ServedCalibrator(new, new.id)
    if anyway or before is None:
        return
    for name, one, other in (
        ("model fingerprint", *(None if c.model is None else c.model.fingerprint for c in (new, before))),
        ("contract", new.contract, before.contract),
        ("level", new.level, before.level),
    ):
        if one != other:
            raise CalibrationError(
                f"{new.id} is for {name} {one}, the served one for {other}: it would not be applied where that is;"
                " --anyway serves it all the same"
            )


def _readable(path: Path) -> Calibrator | None:
    try:
        return read(path)
    except CalibratorFileError:
        return None


def _readable_in(folder: Path) -> list[Calibrator]:
    return [one for path in sorted(folder.glob("cal_*.json")) if (one := _readable(path)) is not None]
