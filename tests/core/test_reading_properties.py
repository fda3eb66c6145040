"""What holds for every output, however it arrives."""

import gzip
import json
import random
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from demur.core.contracts import CONTRACTS
from demur.core.parsing import Reset, fold
from demur.core.parsing.grammar import LONGEST_TAG
from demur.core.parsing.kinds import Kind
from demur.core.parsing.lexer import Lexer
from demur.core.reader import Reader, read

RECORDED = Path(__file__).parents[1] / "data" / "reading" / "recorded.jsonl.gz"

FRAGMENTS = [
    *('<Confidence value=0.9 text="why">', "<Confidence", " value=", "0.9", ' text="', "</Confidence>", '">', "'"),
    *(
        "Solution:\n",
        "Solution:",
        "Answer:",
        "Answer: 4\n",
        "Confidence: 0.8",
        "**Answer:** ",
        "Final answer",
        " score",
    ),
    *("<think>", "</think>", "<answer>", "</answer>", "<confidence>", "\\boxed{4}", "<IDK>", "<", "</", ">", '"', "{"),
    *("Question: ", "Human:", "user\n", "assistantfinal", "assistantcommentary to=x", "analysis", "final", "assi", "a"),
    *("1. ", "2) ", "\u2705 ", "<b>", "</b>", "So, ", "On reflection, ", "Correction: ", "\n====\n", "\n---\n", "----"),
    *("Confidence in %: ", "Confidence /100: ", "Answer and Confidence: ", "Here is my response: ", "`", "```\n", "~~"),
    *("[THINK]", "[/INST]", "[INST]", "<|im_start|>", "<|im_end|>", "<|user|>", "<|channel|>final<|message|>", "[EOS]"),
    *("<tool_call>", "</tool_call>", "<mm:think>", "</mm:think>", "G1: x\n", "P1: 0.5\n", "#### 4", "the answer is 4"),
    *("\u7b54\u6848\u662f", "I am 90% sure. ", "How sure am I? ", '{"answer": 4, "confidence": 0.5}', "| a | b |\n"),
    *("[x] ", "[ ] ", "[User]: ", "[Answer]: ", "<s>", "</s>", "\\boxed{", "}", "x = ", ", ", "\U0001f389"),
    *("\n", "\r\n", "\n\n", " ", "**", "x < 3", "1", ".", "%", "\u00bd", "\U0001f600", "\x00", "\u202e", "-", ":", "="),
]
outputs = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=4)), max_size=30).map("".join)
contracts = st.sampled_from(tuple(CONTRACTS))
modes = st.sampled_from(["strict", "lenient"])


def split(text: str, cuts: list[int]) -> list[str]:
    return [text[a:b] for a, b in pairwise([0, *sorted(c % (len(text) + 1) for c in cuts), len(text)])]


def follow(pieces, contract, mode):
    reader = Reader(contract, mode)
    events = [event for piece in pieces for event in reader.feed(piece)]
    last, completion = reader.close()
    return [*events, *last], completion


@settings(max_examples=400, deadline=None)
@given(outputs, contracts, modes, st.lists(st.integers(0, 400), max_size=12))
def test_every_split_reads_the_same(text, contract, mode, cuts):
    whole = read(text, contract, mode)
    for pieces in (split(text, cuts), list(text)):
        events, completion = follow(pieces, contract, mode)
        assert completion == whole
        shown, claims = fold(events)
        assert shown == whole.text
        assert tuple(claims) == whole.claims


@settings(max_examples=400, deadline=None)
@given(outputs, contracts, modes, st.lists(st.integers(0, 400), max_size=12))
def test_no_text_is_lost(text, contract, mode, cuts):
    lexer = Lexer(contract == "claims", mode)
    tokens = [token for piece in split(text, cuts) for token in lexer.feed(piece)] + lexer.close()
    assert "".join(token.raw for token in tokens) == text
    assert all(token.raw for token in tokens)


@settings(max_examples=200, deadline=None)
@given(outputs, modes)
def test_spans_point_at_the_claims(text, mode):
    completion = read(text, "claims", mode)
    end = 0
    for claim in completion.claims:
        assert completion.text[claim.span[0] : claim.span[1]] == claim.text
        assert end <= claim.span[0] <= claim.span[1] <= len(completion.text)
        end = claim.span[1]


@settings(max_examples=200, deadline=None)
@given(outputs, contracts, modes)
def test_states_are_consistent(text, contract, mode):
    completion = read(text, contract, mode)
    assert (completion.confidence is not None) == (completion.state == "value")
    assert completion.confidence is None or 0 <= completion.confidence <= 1
    assert completion.answer is None or completion.answer.strip()
    assert completion.text == completion.text.strip()
    if mode == "lenient":
        assert not completion.violation


@settings(max_examples=200, deadline=None)
@given(outputs, contracts)
@example('<Confidence text="', "claims")
@example("<Confidence value=0.9 text='so", "claims")
def test_what_counts_comes_last(before, contract):
    """Whatever a model thought before, its well-formed ending is what is read."""
    text = f"{before}\n{well_formed(contract)}"
    completion = read(text, contract, "strict")
    assert completion.answer == "70"
    assert completion.confidence == (None if contract == "explicit_risk" else 0.6)


def well_formed(contract: str) -> str:
    return {
        "response": "Answer: 70\nConfidence: 0.6",
        "explicit_risk": "Answer: 70",
        "claims": 'Solution:\n<Confidence value=0.9 text="a">2 * 20 = 40</Confidence>\n'
        '<Confidence value=0.6 text="b">40 + 30 = 70</Confidence>\nAnswer:70',
    }[contract]


def test_a_hundred_thousand_mutated_outputs():
    """Real outputs, damaged: none raises, and pieces read as the whole."""
    rng = random.Random(1)
    texts = [json.loads(line)["text"] for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]
    texts += [well_formed(contract) for contract in CONTRACTS] * 500
    for i in range(100_000):
        text = mutate(rng.choice(texts), rng)
        contract, mode = tuple(CONTRACTS)[i % 3], ("lenient", "strict")[i % 2]
        whole = read(text, contract, mode)
        assert follow(split(text, [rng.randrange(500)]), contract, mode)[1] == whole


def mutate(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 4)):
        a, b = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        match rng.randrange(4):
            case 0:
                text = text[:a] + text[b:]
            case 1:
                text = text[:a] + rng.choice(FRAGMENTS) + text[a:]
            case 2:
                text = text[:a] + text[a:b] * 2 + text[b:]
            case _:
                text = text[b:] + text[:a]
    return text[:1500]


@pytest.mark.parametrize(
    "piece",
    [
        *("<Confidence ", '<Confidence value=0.1 text="', "Answer: ", "\n", "**", "{", "</", '"', "assi", "as", "<b>"),
        *("1. ", "\n1. ", "\u2705", "So, ", "Answer\n---", "`<think>", "[", "Question", "Here is my response", "a"),
    ],
)
@pytest.mark.parametrize("contract", CONTRACTS)
def test_little_is_held_back(piece, contract):
    """A hostile output cannot make the lexer keep more than one label or tag."""
    lexer = Lexer(contract == "claims", "lenient")
    fed = told = 0
    for _ in range(2000):
        fed += len(piece)
        told += sum(len(token.raw) for token in lexer.feed(piece))
        assert fed - told <= LONGEST_TAG + len(piece)


def test_a_new_solution_voids_what_was_shown():
    text = 'Solution:\n<Confidence value=0.9 text="a">old</Confidence>\nSolution:\nnew'
    events, completion = follow(list(text), "claims", "lenient")
    assert Reset("solution_restarted") in events
    assert completion.text == "new"
    assert completion.claims == ()


def test_private_reasoning_is_never_shown():
    text = "secret\n<Confidence value=1 text='s'>secret</Confidence>\n" + well_formed("claims")
    events, completion = follow(list(text), "claims", "lenient")
    assert not any("secret" in repr(event) for event in events)
    assert completion.text == "2 * 20 = 40\n40 + 30 = 70"
    assert [claim.span for claim in completion.claims] == [(0, 11), (12, 24)]


def test_a_reasoning_block_that_was_shown_is_taken_back():
    events, completion = follow(
        list("hm, 41?\nAnswer: 41\nno</think>It is clear.\nAnswer: 42\nConfidence: 0.9"), "response", "lenient"
    )
    assert Reset("reasoning_ended") in events
    assert (completion.text, completion.answer) == ("It is clear.", "42")


def test_an_answer_line_inside_a_claim_belongs_to_it_only_if_the_claim_closes():
    closed = read('Solution:\n<Confidence value=0.9 text="">a\nAnswer: 1</Confidence>\nAnswer: 2', "claims", "strict")
    assert (closed.claims[0].text, closed.answer) == ("a\nAnswer: 1", "2")
    unclosed = read('Solution:\n<Confidence value=0.9 text="">a\nAnswer: 1', "claims", "strict")
    assert (unclosed.claims[0].text, unclosed.answer) == ("a", "1")
    assert unclosed.claims[0].problems == ("unclosed",)


def test_the_running_confidence_follows_the_claims():
    reader = Reader("claims", aggregation="product")
    reader.feed("Solution:\n")
    assert reader.running_confidence is None
    reader.feed('<Confidence value=0.5 text="a">x</Confidence>')
    assert reader.running_confidence == 0.5
    reader.feed('<Confidence value=0.5 text="b">y</Confidence>')
    assert reader.running_confidence == 0.25


def test_labels_and_tags_are_tokens():
    lexer = Lexer(True, "strict")
    kinds = [token.kind for token in [*lexer.feed(well_formed("claims")), *lexer.close()]]
    assert kinds.count(Kind.CLAIM_OPEN) == kinds.count(Kind.EXPLANATION_END) == kinds.count(Kind.CLAIM_CLOSE) == 2


HOSTILE = [
    *("Answer: 4\n", "Answer:", "Confidence: 0.5\n", "**", "{", "{}", "<think>", "<think></think>", "</think>", "7"),
    *("\\boxed{", "\\boxed{1}, ", '{"answer": 1}', '{"a":', '{"answer": "\\', "|", "| a | b |\n", "\n", " "),
    *("Question:\n", "assistantfinal", "x.assistantanalysis", "as", "the answer is ", "`", "```\n", "#### 1\n"),
    *("G1: a\nP1: 0.5\n", "1. Answer: x\n", '"Answer: x\n', "I am sure. ", "Answer\n---\n", "<|user|>\n<|assistant|>x"),
    *("~~a", "<b>", "[", "So, ", "\u2705", "\\[", "Answer: \\[\n", "Answer: Answer: ", ", ", "> Answer: 1\n"),
    *('<Confidence value=0.1 text="a">b</Confidence>\n', "x = \\boxed{1}, ", "\\boxed{1}", "<s>a", "a <s>b</s>"),
    *("[x] ", "- [x] Answer: 1\n", "[User]: ", "[", "\U0001f389 ", "Answer: 1 \U0001f389\n", "\t", "\r\n", "a\n\n"),
    *(
        "User:\n",
        "*a* ",
        "<answer>",
        "<answer>4</answer>",
        "</Confidence>",
        "Solution:\n",
        "\\begin{a}\n",
        "$$\n",
        "&amp;",
    ),
]
BEHIND = [
    *(("Answer:", "\n"), ("Answer: \\[\n", "\n"), ("Answer: \\[\n", "x\n"), ("Answer: \\boxed{\n", "x\n")),
    *(("Answer: ```\n", "x\n"), ("Solution:\n", "\n"), ("Solution:\n", "Answer: 4\n"), ("<answer>", "x\n")),
    *(('Solution:\n<Confidence value=0.1 text="', "x\n"), ('Solution:\n<Confidence value=0.1 text="a">', "\n")),
    *(("Answer: 4\nConfidence: 0.5\n", "\n"), ("Answer: 4\nQuestion:\n", "x\n"), ("<think>", "\n")),
]
"""What opens something, and what is repeated inside it."""


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_output_is_read_in_the_time_its_length_takes(piece, contract):
    """What was superlinear would take hours: each character of half a million may cost a microsecond or ten."""
    completion = read(piece * (500_000 // len(piece)), contract)
    assert completion.confidence is None or 0 <= completion.confidence <= 1


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_work_of_the_lexer_grows_with_the_length_alone(piece):
    """In pieces of 64 characters, no more than one label or tag is looked at again with each piece."""
    lexer, looked_at = Lexer(False, "lenient"), 0
    text = piece * (20_000 // len(piece))
    held = 0
    for start in range(0, len(text), 64):
        given = text[start : start + 64]
        held += len(given) - sum(len(token.raw) for token in lexer.feed(given))
        looked_at += len(given) + held
    assert held <= LONGEST_TAG + 64
    assert looked_at <= len(text) * (2 + LONGEST_TAG / 64)


def state(held: object) -> dict[str, object]:
    names = [name for kind in type(held).__mro__ for name in getattr(kind, "__slots__", ())]
    return getattr(held, "__dict__", {}) | {name: getattr(held, name, None) for name in names}


def work(text: str, contract, size: int) -> int:
    """Calls, the characters of what they return, and those of the strings that their objects keep.

    A string that grows by each piece is copied with each; so is one that is joined and looked at again.
    """
    counted = 0

    def count(frame, event, found) -> None:
        nonlocal counted
        counted += 1
        if event == "return" and isinstance(found, str):
            counted += len(found)
        if event == "call" and "self" in frame.f_locals:
            counted += sum(len(kept) for kept in state(frame.f_locals["self"]).values() if isinstance(kept, str))

    reader = Reader(contract)
    previous = sys.getprofile()
    sys.setprofile(count)
    try:
        for start in range(0, len(text), size):
            reader.feed(text[start : start + size])
        reader.close()
    finally:
        sys.setprofile(previous)
    return counted


@pytest.mark.parametrize("contract", ["response", "claims"])
@pytest.mark.parametrize(("opened", "piece"), BEHIND + [("", piece) for piece in HOSTILE])
def test_the_work_of_the_reader_grows_with_the_length_alone(opened: str, piece: str, contract) -> None:
    for size in (3, 10_000):
        shorter, longer = (work(opened + piece * (n // len(piece)), contract, size) for n in (600, 3600))
        assert longer <= 8 * shorter + 20_000


@pytest.mark.parametrize(("opened", "piece"), BEHIND)
def test_thousands_of_lines_inside_what_was_opened_raise_nothing(opened: str, piece: str) -> None:
    for contract in CONTRACTS:
        assert read(opened + piece * 20_000, contract).confidence in (None, 0.1, 0.5)
