"""Fingerprints: which model answers, as a short text that changes when configuration, tokenizer or weights do.

`files:` begins one that was computed from the files themselves, `named:` one that only knows what the model is called:
for a model on another host there is nothing else to go by, and whoever runs it has to keep its name true.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from demur.manifest import FILE_NAME, Manifest

DIGITS = 32
"""Hex digits of a fingerprint: 128 bits."""
WITHOUT_EFFECT = (".md", ".txt.sha256", ".png", ".jpg", ".pdf", ".lock")
"""Endings of files beside a model that change no answer."""
SPEED_ONLY = frozenset(
    {
        "data_parallel_size",
        "disable_log_stats",
        "enable_prefix_caching",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "max_num_batched_tokens",
        "max_num_seqs",
        "pipeline_parallel_size",
        "tensor_parallel_size",
    }
)
"""Arguments of the engine that change how fast it answers, not what. Any other one makes another model."""
_BLOB = re.compile(r"[0-9a-f]{64}", re.ASCII)
"""The hub's cache names a large file by its SHA-256."""


def of_folder(
    folder: Path, manifest: Manifest, arguments: Mapping[str, Any] | None = None, cache: Path | None = None
) -> str:
    """The fingerprint of a model folder, served with these engine arguments.

    Every file in it counts but hidden ones, model cards and pictures; of the manifest, all but what was measured.
    `cache` is a file that remembers the hash of a file which has not changed since by size, time and inode: weights are
    read once.
    """
    known = _Hashes(cache)
    files = {path.relative_to(folder).as_posix(): known.of(path) for path in _files(folder)}
    known.save()
    return _fingerprint("files", {"files": files}, manifest, arguments)


def of_parts(parts: Mapping[str, Any], manifest: Manifest, arguments: Mapping[str, Any] | None = None) -> str:
    """The fingerprint of a model that was made, and checked, from parts with these hashes."""
    return _fingerprint("files", {"parts": dict(parts)}, manifest, arguments)


def of_name(name: str, manifest: Manifest, arguments: Mapping[str, Any] | None = None) -> str:
    """The fingerprint of a model of which only the name is known, with what its manifest says of it."""
    return _fingerprint("named", {"name": name}, manifest, arguments)


def _fingerprint(kind: str, what: dict[str, Any], manifest: Manifest, arguments: Mapping[str, Any] | None) -> str:
    """What was measured is left out: it is often filled in by the very evaluation that asks."""
    told = what | {
        "manifest": manifest.model_dump(mode="json", exclude={"metrics", "examples", "measured"}),
        "arguments": {name: value for name, value in (arguments or {}).items() if name not in SPEED_ONLY},
    }
    canonical = json.dumps(told, sort_keys=True, default=str)
    return f"{kind}:{hashlib.sha256(canonical.encode()).hexdigest()[:DIGITS]}"


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name != FILE_NAME and not name.startswith(".") and not name.lower().endswith(WITHOUT_EFFECT):
                path = Path(place, name)
                if path.is_file():
                    yield path


class _Hashes:
    """SHA-256 of files, remembered in `cache` where there is one. A cache that cannot be used costs time alone."""

    def __init__(self, cache: Path | None) -> None:
        self._cache = cache
        self._known: dict[str, str] = {}
        self._new = False
        if cache is not None:
            with suppress(OSError, ValueError):
                found = json.loads(cache.read_text(encoding="utf-8"))
                self._known = {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}

    def of(self, path: Path) -> str:
        real = path.resolve()
        if _BLOB.fullmatch(real.name) and real.parent.name == "blobs":
            return real.name
        found = real.stat()
        key = f"{real}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"
        if key not in self._known:
            with real.open("rb") as file:
                self._known[key] = hashlib.file_digest(file, "sha256").hexdigest()
            self._new = True
        return self._known[key]

    def save(self) -> None:
        if self._cache is None or not self._new:
            return
        beside = self._cache.with_name(f"{self._cache.name}.{os.getpid()}")
        with suppress(OSError):
            self._cache.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(self._known), encoding="utf-8")
            beside.replace(self._cache)
