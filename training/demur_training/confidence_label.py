"""Where the confidence is in an output of the contract `response`: the tokens after its last label."""

from collections.abc import Sequence
from typing import Any

LABEL = "Confidence:"


def label_end(response: Sequence[int], tokenizer: Any) -> int | None:
    """How many tokens of a response it takes to reach the last confidence label; None where no token ends there."""
    whole = tokenizer.decode(response, skip_special_tokens=True)
    wanted = whole.rfind(LABEL) + len(LABEL)
    for count in range(len(response), 0, -1):
        length = len(tokenizer.decode(response[:count], skip_special_tokens=True))
        if length <= wanted:
            return count if length == wanted else None
    return None
