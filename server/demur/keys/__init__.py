"""Keys that callers show: made, kept as hashes in a file or the environment, and looked up."""

from demur.keys.file import KeyFile, KeysError
from demur.keys.key import Key, make_key
from demur.keys.store import ApiKeyStore

__all__ = ["ApiKeyStore", "Key", "KeyFile", "KeysError", "make_key"]
