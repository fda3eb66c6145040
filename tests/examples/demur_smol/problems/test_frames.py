"""Wording: many frames, held-out ones that are new, and the same question in every notation."""

import random
import re
from itertools import product

import pytest

from demur_smol_lab.problems.frames.carriers import AFTER, ASKERS, BEFORE
from demur_smol_lab.problems.frames.grammar import Core, Side, count_frames, filled, frame, part_side, side
from demur_smol_lab.problems.frames.notation import spelled, written_otherwise
from demur_smol_lab.problems.mix import CORES, MIX, TAUGHT, asked, draw

SIDES: tuple[Side, ...] = ("train", "validation", "test")
SMALL = Core(("{a} + {b}", "the sum of {a} and {b}"), ("Add {a} and {b}.",))


@pytest.mark.parametrize("family", sorted(CORES))
def test_a_family_has_two_hundred_frames_and_some_on_every_side(family):
    count = count_frames(CORES[family])
    assert sum(count.values()) >= 200
    assert count["train"] >= 200
    assert min(count[side] for side in SIDES) > 0


def test_a_counted_frame_is_one_way_to_ask():
    texts = {asker.replace("{x}", noun) for asker, noun in product(ASKERS, SMALL.nouns)} | {*SMALL.wholes}
    assert sum(count_frames(SMALL).values()) == len(texts) * len(BEFORE) * len(AFTER)


def test_the_side_of_a_frame_is_that_of_its_most_held_out_part():
    by_side = {name: next(a for a in ASKERS if part_side(a) == name) for name in SIDES}
    assert side(()) == side(("", by_side["train"])) == "train"
    assert side((by_side["train"], by_side["validation"])) == "validation"
    assert side(by_side.values()) == "test"


@pytest.mark.parametrize("family", ["add", "word_subtract", "capital", "three_step", "age", "odd_or_even"])
def test_a_test_wording_has_a_part_that_no_training_wording_has(family):
    core, rng = CORES[family], random.Random(0)
    new = [part for part in (*ASKERS, *BEFORE, *AFTER, *core.wholes, *core.nouns) if part_side(part) == "test"]
    new += [part for scenes, questions in core.stories for part in (*scenes, *questions) if part_side(part) == "test"]
    pieces = [part.replace("{x}", "").strip() for part in new]
    for _ in range(200):
        text = frame(core, rng, "test")
        assert any(all(bit.lower() in text.lower() for bit in re.split(r"\{x\}", part)) for part in new), text
    assert pieces


@pytest.mark.parametrize("family", sorted({cell.partition("/")[0] for cell in (*MIX, *TAUGHT)}))
def test_training_and_test_share_no_frame(family):
    core, rng = CORES[family], random.Random(1)
    drawn = {name: {frame(core, rng, name) for _ in range(400)} for name in ("train", "test")}
    assert not drawn["train"] & drawn["test"]


def test_one_problem_is_asked_in_many_ways():
    rng = random.Random(2)
    problem = draw("times_plus/1", rng)
    again = [asked(problem, rng, "train") for _ in range(40)]
    assert len({p.question for p in again}) > 30
    assert {p.key for p in again} == {problem.key}
    assert {p.answer for p in again} == {problem.answer}


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "zero"), (13, "thirteen"), (20, "twenty"), (47, "forty-seven"), (300, "three hundred"), (1000, "one thousand"),
     (615, "six hundred fifteen")],
)  # fmt: skip
def test_numbers_in_words(number, words):
    assert spelled(number) == words


def test_no_two_numbers_have_the_same_words():
    assert len({spelled(n) for n in range(1001)}) == 1001


def test_another_notation_says_the_same_numbers():
    words = {spelled(n): str(n) for n in range(1000, -1, -1)}
    longest_first = sorted(words, key=len, reverse=True)
    rng = random.Random(3)
    seen = set()
    for _ in range(2000):
        a, b = rng.randint(0, 1000), rng.randint(1000, 99999)
        for text, numbers in ((f"What is {a} * {a}?", [a, a]), (f"{b} - {a} = ?", [b, a])):
            other = written_otherwise(text, rng)
            seen.add(other.replace(str(a), "a").replace(str(b), "b"))
            said = re.sub(r"\b(" + "|".join(longest_first) + r")\b", lambda m: words[m[0]], other.lower())
            assert [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", said)] == numbers, other
    assert len(seen) > 20


@pytest.mark.parametrize("text", ["What is 3/4 + 1/2?", "Which is larger, 9.9 or 9.11?", "It is 5:30."])
def test_fractions_decimals_and_times_stay_in_digits(text):
    rng = random.Random(4)
    for _ in range(300):
        assert re.findall(r"\d+", written_otherwise(text, rng)) == re.findall(r"\d+", text)


def test_a_place_that_a_question_does_not_have_is_an_error():
    with pytest.raises(KeyError):
        filled(Core(wholes=("What is {q}?",)), {"a": "1"}, random.Random(0), "train")
