"""All keys that open one server, looked up by what a caller shows."""

import logging
from pathlib import Path

from demur.keys.file import KeyFile, Keys, KeysError, read_keys
from demur.keys.key import Key, id_in

logger = logging.getLogger(__name__)

_NOBODYS = Key(id="00000000", name="nobody", sha256="0" * 64)


class KeyRing:
    """Keys of a file, of the text of one, or of both. A file that changed is read again at the next look-up.

    Raises KeysError when it is made. Later a file that cannot be read any more leaves the keys as they were, and an
    error in the log.
    """

    def __init__(self, path: Path | None = None, text: str | None = None) -> None:
        self._given = () if text is None else read_keys(text, "DEMUR_KEYS")
        self._file = None if path is None else KeyFile(path)
        self._seen = self._look()
        self._keys = self._by_id(() if self._file is None else self._file.read())

    def find(self, text: str) -> Key | None:
        """The key that `text` is."""
        if self._file is not None and (seen := self._look()) != self._seen:
            self._seen = seen
            self._reload(self._file)
        key = self._keys.get(id_in(text), _NOBODYS)
        return key if key.opens_with(text) else None

    def _look(self) -> object:
        """What changes whenever the file does."""
        if self._file is None:
            return None
        try:
            found = self._file.path.stat()
        except OSError:
            return "gone"
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _reload(self, file: KeyFile) -> None:
        try:
            self._keys = self._by_id(file.read())
        except KeysError as error:
            logger.error("the keys were not read again", extra={"fields": {"cause": str(error)}})
        else:
            logger.info("the keys were read again", extra={"fields": {"keys": len(self._keys)}})

    def _by_id(self, of_file: Keys) -> dict[str, Key]:
        return {key.id: key for key in (*self._given, *of_file)}
