"""One key: what its holder may do, and the hash by which the holder is known.

A key is `dmr_ID_SECRET` with 256 random bits in the secret, so that one round of SHA-256 is all the hashing it needs.
"""

import hashlib
import hmac
import secrets
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

PREFIX = "dmr"
LARGEST = 10**12
Most = Annotated[int | None, Field(ge=1, le=LARGEST)]


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError("has characters that cannot be printed")
    return name


class Key(BaseModel):
    """What is kept of a key. A limit that is null does not hold.

    `concurrent_samples` may run at once, the rest waits; `max_samples` is the highest k of one request.
    `min_risk_threshold` is the lowest risk threshold that the holder may ask with, in [0, 1]. `withheld` lets the
    holder see withheld text, whatever that is. `abstain_as` is how chat completions say that there is no answer.

    `grade` lets the holder see and grade answers to others, withheld ones included; `calibrate` lets it take the graded
    rows, delete answers and see how graders agree.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
    name: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_printable)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    created: Annotated[str, Field(max_length=40), AfterValidator(_printable)] = ""
    requests_per_minute: Most = None
    tokens_per_minute: Most = None
    concurrent_samples: Most = None
    max_samples: Most = None
    min_risk_threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.0
    withheld: bool = False
    abstain_as: Literal["content", "refusal", "error"] | None = None
    grade: bool = False
    calibrate: bool = False

    def matches(self, text: str) -> bool:
        """Whether `text` is this key; takes the same time whatever it is."""
        return hmac.compare_digest(_hash(text), self.sha256)


def make_key(name: str, **limits: Any) -> tuple[Key, str]:
    """A new key: what to keep of it, and the text for its holder, which nobody can make again."""
    key_id = secrets.token_hex(4)
    text = f"{PREFIX}_{key_id}_{secrets.token_urlsafe(32)}"
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return Key(id=key_id, name=name, sha256=_hash(text), created=created, **limits), text


def id_in(text: str) -> str:
    """The id that stands in a key's text; it is no secret. Empty when `text` is no key."""
    prefix, _, rest = text.partition("_")
    return rest.partition("_")[0] if prefix == PREFIX else ""


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
