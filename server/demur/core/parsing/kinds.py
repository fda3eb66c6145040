"""The kinds of tokens that an output is cut into."""

from enum import Enum, auto


class Kind(Enum):
    """What a piece of output is. Labels stand at the start of a line; what follows them is TEXT."""

    TEXT = auto()
    ANSWER = auto()
    CONFIDENCE = auto()
    SOLUTION = auto()
    CLAIM_OPEN = auto()
    EXPLANATION_END = auto()
    CLAIM_CLOSE = auto()
    ANSWER_OPEN = auto()
    ANSWER_CLOSE = auto()
    CONFIDENCE_OPEN = auto()
    CONFIDENCE_CLOSE = auto()
    THINK_OPEN = auto()
    THINK_CLOSE = auto()
    SPECIAL = auto()
    """A chat template's own token, left in by an engine; `value` is its name."""
    STRUCK = auto()
    """Words that were taken back in markup that looks like special tokens: part of the text, never given out."""
    FENCE = auto()
    """A line of three backticks or tildes: code begins or ends."""
    TURN = auto()
    """A line that opens another turn, or the next question, where an answer stands before it."""
    THOUGHT_SAID = auto()
    RESPONSE_SAID = auto()
    """Lines that tell thought from the response in words."""
    VOID = auto()
    BREAK = auto()
    END = auto()
    """These three are control tokens that `segments` inserts; they stand in no text."""

    __hash__ = object.__hash__  # there is one of each, and they are looked up for every token


BEGINS_LINE = frozenset(
    [
        *(Kind.THINK_OPEN, Kind.THINK_CLOSE, Kind.SPECIAL, Kind.TURN, Kind.RESPONSE_SAID),
        *(Kind.ANSWER_CLOSE, Kind.CONFIDENCE_CLOSE),
    ]
)
"""What is written behind these stands at the start of a line."""
OPEN_ENDED = frozenset({Kind.ANSWER, Kind.CONFIDENCE, Kind.FENCE, Kind.TURN, Kind.RESPONSE_SAID, Kind.THOUGHT_SAID})
"""Emphasis or space after the colon belongs to these labels, so at the end of what there is they may still grow."""
QUOTABLE = frozenset(
    [
        *(Kind.THINK_OPEN, Kind.THINK_CLOSE, Kind.SPECIAL),
        *(Kind.ANSWER_OPEN, Kind.ANSWER_CLOSE, Kind.CONFIDENCE_OPEN, Kind.CONFIDENCE_CLOSE),
    ]
)
"""Tags that somebody may also write about; in `code` they are no tags."""
