"""Identifiers that sort by time and cannot be guessed: 48 bits of milliseconds, 80 random bits, in base 32."""

import secrets
import time

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's alphabet: no I, L, O or U."""


def new_id(prefix: str) -> str:
    """A new identifier by this machine's clock: `prefix`, an underscore and a ULID of 26 characters."""
    return f"{prefix}_{encode(int(time.time() * 1000), secrets.randbits(80))}"


def encode(milliseconds: int, randomness: int) -> str:
    """A ULID: 26 characters of Crockford's base 32 for 48 bits of milliseconds since 1970 and 80 of randomness."""
    number = (milliseconds & (1 << 48) - 1) << 80 | randomness
    return "".join(_DIGITS[number >> shift & 31] for shift in range(125, -1, -5))
