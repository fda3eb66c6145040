"""Rows out of files: JSON lines, JSON, CSV, Parquet; from this machine or from the Hugging Face hub."""

import csv
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from demur.evaluation.datasets.base import Hub
from demur.evaluation.errors import DatasetError

csv.field_size_limit(2**31 - 1)


def read_file(path: Path) -> list[dict[str, Any]]:
    """Every row of a file, by its suffix. Raises DatasetError naming the file and the line."""
    suffix = Path(path.name.removesuffix(".gz")).suffix
    if suffix not in READERS:
        raise DatasetError(f"{path}: not one of {', '.join(READERS)} (or those with .gz)")
    try:
        return READERS[suffix](path)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise DatasetError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def fingerprint(paths: Iterable[Path]) -> str:
    """Twelve hex digits that change when a byte of the files does: for the run card."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def fetch(hub: Hub, *, endpoint: str | None = None, cache: Path | None = None) -> list[Path]:
    """Download the files of one split, or find them in the local cache; their paths.

    `endpoint` and `cache` default to what the hub's own library is configured with. Raises DatasetError when the hub
    cannot be reached or holds no file of that split.
    """
    try:
        import httpx
        from huggingface_hub import HfApi, hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError
    except ImportError:
        raise DatasetError(f"{hub.repo}: needs huggingface_hub, or give a local file with --data") from None
    try:
        api = HfApi(endpoint=endpoint)
        names = chosen(hub, api.list_repo_files(hub.repo, repo_type="dataset"))
        where = {"endpoint": endpoint, "cache_dir": cache}
        return [Path(hf_hub_download(hub.repo, name, repo_type="dataset", **where)) for name in names]
    except (HfHubHTTPError, httpx.HTTPError, OSError, ValueError) as error:
        line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DatasetError(f"{hub.repo}: not to be had from the hub ({line}); give a local file with --data") from None


def chosen(hub: Hub, names: Iterable[str]) -> list[str]:
    """The files of one split. Raises DatasetError listing what there is."""
    known = sorted(name for name in names if Path(name.removesuffix(".gz")).suffix in READERS)
    of_config = [name for name in known if hub.config is None or hub.config in Path(name).parts]
    of_split = [name for name in of_config if hub.split in Path(name).name]
    if not of_split:
        raise DatasetError(f"{hub.repo}: no file of split {hub.split!r}; it holds {', '.join(known) or 'no rows'}")
    return of_split


def _text(path: Path) -> TextIO:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def _json_lines(path: Path) -> list[dict[str, Any]]:
    with _text(path) as file:
        return list(_objects(file, path))


def _objects(file: TextIO, path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise DatasetError(f"{path} line {number}: not JSON: {error}") from None
        if not isinstance(record, dict):
            raise DatasetError(f"{path} line {number}: a row is a JSON object")
        yield record


def _json(path: Path) -> list[dict[str, Any]]:
    with _text(path) as file:
        rows = json.load(file)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DatasetError(f"{path}: the file must hold a list of objects")
    return rows


def _csv(path: Path) -> list[dict[str, Any]]:
    with _text(path) as file:
        return list(csv.DictReader(file))


def _parquet(path: Path) -> list[dict[str, Any]]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise DatasetError(f"{path}: Parquet needs pyarrow: pip install 'demur[evaluation]'") from None
    return parquet.read_table(path).to_pylist()


READERS: dict[str, Callable[[Path], list[dict[str, Any]]]] = {
    ".jsonl": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
}
