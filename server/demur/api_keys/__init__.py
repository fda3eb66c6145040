"""Keys that callers show: made, kept as hashes in a file or the environment, and looked up."""

from demur.api_keys.file import KeyFile, KeysError
from demur.api_keys.key import Key, make_key
from demur.api_keys.store import ApiKeyStore

__all__ = ["ApiKeyStore", "Key", "KeyFile", "KeysError", "make_key"]
