"""What a model that vLLM serves is known by, and the calibrators that come with the embedded one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demur import fingerprint
from demur.manifest import Manifest

SHIPPED = Path(__file__).parents[1] / "model" / "calibrators"
"""Made by `make calibrate-embedded`."""


def shipped_calibrators() -> tuple[Path, ...]:
    """The calibrator files that come with the embedded model, in the order of their names; empty where none does."""
    return tuple(sorted(SHIPPED.glob("*.json")))


def fingerprint_of(model: str, manifest: Manifest, arguments: Mapping[str, Any], *, embedded: bool = False) -> str:
    """The fingerprint of a model folder, of a hub id in the hub's cache, or of the embedded model; by name alone for a
    model whose files are elsewhere.

    The embedded one is known by what it was made from, because the last bits of merged weights may differ between
    machines; that it is whole was checked when it was prepared. Weights that were hashed before are not read again.
    """
    folder = Path(model).expanduser()
    if embedded:
        from demur.model.folder import made_from

        return fingerprint.of_parts(made_from(folder), manifest, arguments)
    found = folder if folder.is_dir() else _cached(model, arguments)
    if found is None:
        return fingerprint.of_name(model, manifest, arguments)
    return fingerprint.of_folder(found, manifest, arguments, _memory())


def is_folder(model: str) -> bool:
    """Whether the model is on this machine's disk already; otherwise the engine downloads it."""
    return Path(model).expanduser().is_dir()


def _cached(hub_id: str, arguments: Mapping[str, Any]) -> Path | None:
    """The folder of a hub repository in the hub's cache, where the engine has put it; None where it is elsewhere."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        place = arguments.get("download_dir")
        return Path(
            snapshot_download(hub_id, revision=arguments.get("revision"), cache_dir=place, local_files_only=True)
        )
    except (HFValidationError, LocalEntryNotFoundError):
        return None


def _memory() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("demur") / "fingerprints.json"
