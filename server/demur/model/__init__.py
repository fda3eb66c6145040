"""The embedded model: made once from an installed package, kept in the user's cache directory."""

from demur.model.folder import CannotPrepare, default_folder, is_intact, prepare
from demur.model.progress import progress_bar
from demur.model.smollm2 import MANIFEST, Progress, SourceError

__all__ = [
    "MANIFEST",
    "CannotPrepare",
    "Progress",
    "SourceError",
    "default_folder",
    "is_intact",
    "prepare",
    "progress_bar",
]
