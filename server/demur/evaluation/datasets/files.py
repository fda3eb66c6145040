"""Rows of data sets out of files of this machine or of the Hugging Face hub."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from demur.evaluation.datasets.base import Hub
from demur.evaluation.errors import DatasetError
from demur.records import RecordsError, fields_of, has_known_suffix, read_records


def read_file(path: Path) -> list[dict[str, Any]]:
    """Every row of a file in any format of `demur.records`. Raises DatasetError naming the file and the line."""
    try:
        return [fields_of(record) for record in read_records(path)]
    except RecordsError as error:
        raise DatasetError(str(error)) from None


def fingerprint(paths: Iterable[Path]) -> str:
    """Twelve hex digits that change when a byte of the files does: for the run manifest."""
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
    known = sorted(name for name in names if has_known_suffix(name))
    of_config = [name for name in known if hub.config is None or hub.config in Path(name).parts]
    of_split = [name for name in of_config if hub.split in Path(name).name]
    if not of_split:
        raise DatasetError(f"{hub.repo}: no file of split {hub.split!r}; it holds {', '.join(known) or 'no rows'}")
    return of_split
