"""All keys that open one server, looked up by what a caller shows."""

import asyncio
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Thread

from demur.api_keys.file import KeyFile, Keys, KeysError, read_keys
from demur.api_keys.key import Key, id_in

logger = logging.getLogger(__name__)

INTERVAL = 1.0
"""Seconds between two looks at the file when nobody shows a key, and between two tries to read one that is broken."""
PATIENCE = 2.0
"""Seconds that callers wait for one look at the file at most: a network mount may hang. Only those wait who come while
it begins to; from then on keys are used as they were, until that look is over."""
MAX_AGE = 900.0
"""Seconds for which keys are used whose file cannot be read any more."""

_NOBODYS = Key(id="00000000", name="nobody", sha256="0" * 64)


class ApiKeyStore:
    """Keys of a file, of the text of one, or of both. A file that changed is read again by the next `refresh`.

    A file that is gone, broken or does not answer leaves the keys as they were for `max_age` seconds, with an error in
    the log; then its keys open nothing until it can be read: a revocation may be what cannot be read. Raises KeysError
    when it is made. `clock` gives seconds and never goes back.
    """

    def __init__(
        self,
        path: Path | None = None,
        text: str | None = None,
        *,
        max_age: float = MAX_AGE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._given = _by_id(() if text is None else read_keys(text, "DEMUR_KEYS"))
        self._file = None if path is None else _Followed(KeyFile(path), max_age, clock)
        self._max_age = max_age
        self._clock = clock
        self._looking: Future[None] | None = None
        self._looks = 0
        self._began = 0.0
        self._hangs = False

    @property
    def age(self) -> float:
        """Seconds since the keys were last seen to be those of the file; 0 without a file."""
        return 0.0 if self._file is None else self._clock() - self._file.current_at

    def find(self, text: str) -> Key | None:
        """The key that `text` is, as far as is known now."""
        of_file = {} if self._file is None else self._file.keys
        key_id = id_in(text)
        key = of_file.get(key_id) or self._given.get(key_id, _NOBODYS)
        return key if key.matches(text) else None

    def trusts(self, key: Key) -> bool:
        """Whether a key that was found opens anything: not when its file could not be read for too long."""
        return self._given.get(key.id) == key or self.age <= self._max_age

    async def refresh(self) -> None:
        """Wait for a check of the file that began after this call, so that a change made before it is seen.

        The check runs in a thread of its own, one for all who wait; nobody waits longer than PATIENCE.
        """
        if self._file is None:
            return
        before, done, look = self._looks, True, self._looks
        while done and look == before:
            if self._looking is None or self._looking.done():
                self._looking, self._began = self._begin(self._file), self._clock()
                self._looks += 1
            look, looking = self._looks, self._looking
            left = self._began + PATIENCE - self._clock()
            if left > 0:
                await asyncio.wait({asyncio.wrap_future(looking)}, timeout=left)
            done = looking.done()
        hung, self._hangs = self._hangs, not done
        if self._hangs and not hung:
            logger.error("the file of keys does not answer", extra={"fields": {"seconds": PATIENCE}})

    async def watch(self) -> None:
        """Refresh for ever, so that what is wrong with the file shows though nobody asks."""
        while True:
            await self.refresh()
            await asyncio.sleep(INTERVAL)

    def _begin(self, file: "_Followed") -> Future[None]:
        done: Future[None] = Future()

        def look() -> None:
            try:
                file.look()
            finally:
                done.set_result(None)

        try:
            Thread(target=look, daemon=True, name="demur-keys").start()
        except RuntimeError:  # no thread is to be had just now: the next look tries again
            done.set_result(None)
        return done


class _Followed:
    """The keys of a file as it was at the last look. Only one thread looks at a time."""

    def __init__(self, file: KeyFile, max_age: float, clock: Callable[[], float]) -> None:
        self._file = file
        self._max_age = max_age
        self._clock = clock
        self._problem: str | None = None
        self._tried = clock()
        keys, found = file.look()
        self._had_a_name = found.st_nlink > 0
        self._seen: object = _identity(found)
        self.keys = _by_id(keys)
        self.current_at = clock()

    def look(self) -> None:
        """Read the file if it changed. Never raises; what is wrong is logged when it begins."""
        now, seen = self._clock(), _look_at(self._file.path)
        if seen == self._seen:
            if self._problem is None:
                self.current_at = now
                return
            if now < self._tried + INTERVAL:
                return
        self._seen, self._tried = seen, now
        try:
            keys, found = self._file.look()
            self._check_name(found)
        except KeysError as error:
            self._fail(str(error))
            return
        self.keys, self.current_at = _by_id(keys), now
        self._seen, self._problem = _identity(found), None
        logger.info("the keys were read again", extra={"fields": {"keys": len(keys)}})

    def _check_name(self, found: os.stat_result) -> None:
        """A file that is mounted by itself stays what it was when it is replaced where it comes from."""
        if self._had_a_name and found.st_nlink == 0:
            raise KeysError(
                f"{self._file.path} was deleted or replaced where it comes from, and what is mounted here is the old "
                "one: mount its folder instead"
            )

    def _fail(self, problem: str) -> None:
        if problem != self._problem:
            left = max(0.0, self.current_at + self._max_age - self._clock())
            fields = {"cause": problem, "seconds_until_they_open_nothing": round(left)}
            logger.error("the keys were not read again", extra={"fields": fields})
        self._problem = problem


def _look_at(path: Path) -> object:
    """What changes whenever the file does."""
    try:
        return _identity(os.stat(path))
    except OSError as error:
        return error.errno


def _identity(found: os.stat_result) -> object:
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_nlink


def _by_id(keys: Keys) -> dict[str, Key]:
    return {key.id: key for key in keys}
