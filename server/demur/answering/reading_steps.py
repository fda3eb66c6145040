"""How often a sample is read while it grows: as rarely as what watches it allows."""

from dataclasses import replace

from demur.answering.redaction import can_stream_text
from demur.answering.resolved_request import ResolvedRequest
from demur.engine.base import Sampling, Untold

EVERY_TOKEN = 1
STEP = 8
"""Tokens between two looks where nothing is shown: a claim is closed, and an abstention certain, at most so many tokens
before it is seen. A sample's end is always seen at once."""


def reading_step(request: ResolvedRequest, *, streamed: bool) -> int | None:
    """Tokens from one look to the next; None where nothing that happens before the end of a sample changes anything.

    A vote looks at samples that have ended, and a deadline or a caller who leaves ends a sample however it is read.
    """
    if streamed and can_stream_text(request):
        return EVERY_TOKEN
    return STEP if streamed or request.abstains_early else None


def read_in_steps(sampling: Sampling, step: int | None) -> Sampling:
    """The settings of one sample that is read every `step` tokens, or only at its end for None; where the engine may
    hold tokens back, with a count of its own."""
    return sampling if step == EVERY_TOKEN else replace(sampling, step=step, untold=Untold())
