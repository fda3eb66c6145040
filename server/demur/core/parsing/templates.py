"""What chat templates and prompts leave in an output, and what each does to the text around it.

Special tokens are written `<|name|>`, `<｜name｜>` with ▁ for the underscores, `<name>` or `[name]`. Names are lower
case.
"""

import re

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
        "eom",
        "eod",
        "eos",
        "eos_token",
        "endofprompt",
        "end_of_turn",
        "end_of_turn_token",
        "end_of_sentence",
        "end_of_utterance",
        "end_of_message",
    ]
)
"""What ends a speaker's turn. What a model goes on to write is no part of its answer."""
ROLES = frozenset({"start", "im_start", "start_header_id", "start_of_turn", "start_of_role"})
"""Behind these stands who speaks."""
CHANNEL = "channel"
"""Behind this stands which of harmony's channels it is."""
SPEAKERS = frozenset({"assistant", "chatbot_token", "bot", "/inst"})
"""The model's own words follow."""
OTHERS = frozenset({"user", "human", "system", "tool", "observation", "user_token", "system_token", "inst"})
"""The words of somebody else follow."""
THOUGHT_BEGINS = frozenset({"start_thinking", "begin_of_thought", "start_action", "think"})
THOUGHT_ENDS = frozenset({"end_thinking", "end_of_thought", "end_action", "/think"})
_ENDS_OF_THOUGHT = {
    "<|start_thinking|>": "<|END_THINKING|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|start_action|>": "<|END_ACTION|>",
    "<|think|>": "<|/think|>",
    "<|channel>thought": "<channel|>",
    "": "<|end|><|start|>assistant<|channel|>final<|message|>",
}
"""By what began it; harmony's channels where that was no tag."""


def thought_end(opened: str) -> str:
    """What ends a thought that began with `opened`: `</think>` after `<think>`."""
    tag = "".join(opened.split())
    return _ENDS_OF_THOUGHT.get(tag.lower()) or f"{tag[0]}/{tag[1:]}"


DROPPED = frozenset(
    [
        "end_header_id",
        "end_of_role",
        "message",
        "constrain",
        "im_sep",
        "pad",
        "start_response",
        "end_response",
        "start_text",
        "end_text",
        "begin_of_solution",
        "end_of_solution",
        "begin_of_box",
        "end_of_box",
        "begin_of_text",
        "startoftext",
        "begin_of_sentence",
        "start_of_turn_token",
    ]
)
"""These end a header, if one is open, and are no text."""

PIPED = TURN_ENDS | ROLES | {CHANNEL} | (SPEAKERS | OTHERS) - {"/inst"} | THOUGHT_BEGINS | THOUGHT_ENDS | DROPPED
ANGLED = ("start_of_turn", "end_of_turn", "end_of_utterance", "eos", "eos_token", "bos", "pad", "s", "/s")
BRACKETED = ("inst", "/inst", "eos", "bos", "pad")

THOUGHTS = ("think", "thinking", "thought", "thoughts", "reasoning", "scratchpad", "reflection")
"""Names of elements that hold thought. Where only the end of one stands, the prompt had opened it."""
ASIDES = (
    *("reason", "cot", "chain_of_thought", "inner_thoughts", "inner_thought", "inner_monologue"),
    *("internal", "internal_thoughts", "deliberation", "planning", "antthinking", "hidden_thinking"),
    *("tool_call", "tool_calls", "tool_response", "function_call"),
)
"""Names of elements that hold no final text if both their ends are there."""

GLUED = re.compile(
    r"(?:(?<=\n)|(?<=[^\s\"'`“(\[]))assistant(?:final|analysis|commentary)(?=\n|[^\s\"'`”)\].,;:!?]|\Z)"
    r"|(?:(?<=\n)|(?<=[^\s\"'`“(\[]))assistantcommentary(?= to=)"
)
"""Harmony's header where a decoder drops special tokens but keeps the words between them."""
GLUED_AT_START = re.compile(r"analysis(?=[^\W_])|commentary(?= to=)|final(?=[A-Z])")
GLUED_LONGEST = len("assistantcommentary to=")
GLUED_BEGINS = frozenset(
    word[:end]
    for word in ("assistantfinal", "assistantanalysis", "assistantcommentary to")
    for end in range(1, len(word) + 1)
)
GLUED_BEGINS_AT_START = frozenset(
    word[:end] for word in ("analysis", "commentary to", "final") for end in range(len(word) + 1)
)

THOUGHT_SAID = frozenset(
    f"{opens} {whose} {what}"
    for opens in ("here is", "here's", "here’s")
    for whose in ("my", "the")
    for what in ("thought process", "thinking process", "reasoning process", "thinking", "thoughts", "reasoning")
)
"""A line that begins so announces thought, if one that begins as below follows."""
RESPONSE_SAID = frozenset(
    f"{opens} {whose} {what}"
    for opens in ("here is", "here's", "here’s")
    for whose in ("my", "the")
    for what in ("response", "final response", "reply", "final reply")
)

TURNS = frozenset(
    [
        *("question", "new question", "next question", "q", "problem", "new problem", "next problem", "exercise"),
        *("instruction", "instructions", "human", "user", "student", "assistant", "input", "example", "task"),
        *("frage", "question suivante", "pregunta", "domanda", "pergunta", "vraag", "pytanie", "soru", "вопрос"),
        *("问题", "問題", "问", "質問", "질문", "문제", "السؤال", "प्रश्न"),
    ]
)
"""What opens another turn or the next question, where a model goes on after its answer."""
