"""Special tokens of chat templates that engines leave in: what each does to the text around it.

Written `<|name|>`, or `<｜name｜>` with ▁ for the underscores. Names are lower case.
"""

TURN_ENDS = frozenset(
    [
        "end",
        "return",
        "call",
        "im_end",
        "eot_id",
        "eom_id",
        "endoftext",
        "end_of_text",
        "eot",
        "end_of_turn",
        "end_of_sentence",
    ]
)
"""What ends a speaker's turn. What a model goes on to write is no part of its answer."""
ROLES = frozenset({"start", "im_start", "start_header_id", "start_of_turn"})
"""Behind these stands who speaks."""
CHANNEL = "channel"
"""Behind this stands which of harmony's channels it is."""
THOUGHT_BEGINS = frozenset({"start_thinking", "begin_of_thought"})
THOUGHT_ENDS = frozenset({"end_thinking", "end_of_thought"})
DROPPED = frozenset(
    [
        "end_header_id",
        "message",
        "constrain",
        "start_response",
        "end_response",
        "begin_of_solution",
        "end_of_solution",
        "begin_of_text",
        "begin_of_sentence",
    ]
)
"""These end a header, if one is open, and are no text."""

NAMES = TURN_ENDS | ROLES | {CHANNEL} | THOUGHT_BEGINS | THOUGHT_ENDS | DROPPED
