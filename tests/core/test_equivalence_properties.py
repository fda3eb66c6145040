"""What holds for any answers at all."""

import random
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from demur.core.equivalence import answer_key, group_answers, is_tame, normalize, same_answer

PIECES = st.one_of(
    st.sampled_from(r".,;:+-*/^_=<>()[]{}$%°~xyaei 01742²½−π√"),
    st.sampled_from(
        [r"\frac", r"\sqrt", r"\pi", r"\pm", r"\cup", r"\le", r"\in", r"\text{", r"\left", r"\right", r"\,"]
    ),
    st.sampled_from(
        [r"\{", r"\}", r"\%", r"\$", r"\boxed{", "1,234", "km", "percent", "million", "the", "Paris", " or "]
    ),
    st.sampled_from(
        [
            "March",
            " 5",
            "2024",
            "-03-",
            "3:30",
            " PM",
            " BC",
            "noon",
            "年",
            " h ",
            " min",
            "°C",
            " and ",
            "real numbers",
            "é",
            "ß",
        ]
    ),
    st.sampled_from(
        [
            r"\overline{3}",
            "0.(3)",
            "...",
            r"\over",
            r"\ne",
            r"\setminus",
            r"\mathbb{R}",
            r"\infty",
            r"\approx",
            "sqrt(",
            "&",
            r"\\",
        ]
    ),
)
ANSWERS = st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(max_size=20))
unhurried = settings(deadline=None, max_examples=80)
NUMBERS = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=10**4)


@unhurried
@given(ANSWERS)
@example("{}{,}000")
@example(r"\boxed{$\text{**7**}$}")
def test_normalising_twice_changes_nothing(answer: str) -> None:
    assert normalize(normalize(answer)) == normalize(answer)


NESTED = [r"\boxed{", r"\text{", r"\boxed{\text{", r"\textbf{\fbox{", r"\mathrm{ \boxed {"]


@pytest.mark.parametrize("opening", NESTED)
@pytest.mark.parametrize("depth", [1, 30, 100])
def test_whatever_is_nested_is_peeled_at_once(opening: str, depth: int) -> None:
    nested = opening * depth + "7" + "}" * opening.count("{") * depth
    assert normalize(nested) == "7"


@pytest.mark.parametrize("repeated", ["the answer is ", "\\", "answer is: So the final answer is "])
def test_whatever_is_said_many_times_is_gone_at_once(repeated: str) -> None:
    once = normalize(repeated * 30 + r"\frac{x}{y}")
    assert once == normalize(once) == r"\frac{x}{y}"


@unhurried
@given(ANSWERS)
def test_every_answer_is_the_same_as_itself_and_as_its_normal_spelling(answer: str) -> None:
    if normalize(answer):
        assert same_answer(answer, answer)
        assert answer_key(answer) == answer_key(normalize(answer))
    else:
        assert answer_key(answer) is None


@unhurried
@given(ANSWERS, ANSWERS)
def test_the_relation_is_symmetric(a: str, b: str) -> None:
    assert same_answer(a, b) is same_answer(b, a)


@unhurried
@given(st.lists(ANSWERS | st.none(), max_size=12), st.randoms(use_true_random=False))
def test_the_partition_does_not_depend_on_the_order(answers: list[str | None], source: random.Random) -> None:
    order = source.sample(range(len(answers)), len(answers))
    groups = group_answers(answers)
    shuffled = group_answers([answers[i] for i in order])
    assert [groups[i] is None for i in order] == [group is None for group in shuffled]
    pairs = {(groups[i], group) for i, group in zip(order, shuffled, strict=True)}
    assert len(pairs) == len(set(groups)) == len(set(shuffled))


@unhurried
@given(st.lists(ANSWERS, min_size=1, max_size=8), ANSWERS)
def test_another_answer_moves_none_of_those_before(answers: list[str], newcomer: str) -> None:
    assert group_answers([*answers, newcomer])[: len(answers)] == group_answers(answers)


@unhurried
@given(NUMBERS)
def test_a_number_is_the_same_however_it_is_written(value: Fraction) -> None:
    top, bottom = value.numerator, value.denominator
    sign = "-" if top < 0 else ""
    spellings = [f"{top}/{bottom}", rf"\frac{{{top}}}{{{bottom}}}", rf"{sign}\dfrac{{{abs(top)}}}{{{bottom}}}"]
    spellings += [f"${top * 3}/{bottom * 3}$", rf"x = {top}/{bottom}", rf"\boxed{{{top}/{bottom}}}\text{{ cm}}"]
    spellings += [f"{top:,}"] if bottom == 1 else []
    assert {answer_key(spelling) for spelling in spellings} == {str(value)}


@unhurried
@given(NUMBERS, NUMBERS)
def test_different_numbers_are_different(a: Fraction, b: Fraction) -> None:
    assert same_answer(str(a), str(b)) is (a == b)


@unhurried
@given(st.lists(st.integers(-99, 99), min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_a_bare_list_has_no_order_and_a_tuple_has(values: list[int], source: random.Random) -> None:
    shuffled = source.sample(values, len(values))
    one, other = (", ".join(map(str, listed)) for listed in (values, shuffled))
    assert same_answer(one, other)
    assert same_answer(f"({one})", f"({other})") is (values == shuffled)


@unhurried
@given(ANSWERS)
def test_what_algebra_may_see_is_short_and_balanced(answer: str) -> None:
    if is_tame(normalize(answer)):
        assert len(normalize(answer)) <= 400
        assert normalize(answer).count("{") == normalize(answer).count("}")


COMMONEST = (
    r"[+-]?(?:\\d?frac\{\d{1,3}\}\{\d{1,3}\}|\d{1,3}/\d{1,3}|\\?\$\d{1,3}(?:\.\d{1,2})?|\d{1,3}(?:\.\d{1,2})?(?:\\?%)?)"
)
UNSEEN = "\u200b"
"""A mark without any width, which keeps an answer from every short cut."""


@unhurried
@given(st.from_regex(COMMONEST, fullmatch=True))
def test_the_commonest_numbers_say_what_they_would_if_they_were_taken_apart(answer: str) -> None:
    assert answer_key(answer) == answer_key(answer + UNSEEN)
    assert same_answer(answer, answer + UNSEEN)
    for other in ("5 km", "$5", "5%"):
        assert same_answer(answer, other) is same_answer(answer + UNSEEN, other)


@unhurried
@given(st.text("abAB019 .,;:?'\"/&+=-()", max_size=16))
@example("the answer is 5.")
@example("0.0(1)")
def test_text_without_any_dress_is_read_like_any_other(answer: str) -> None:
    assert normalize(answer) == normalize(answer + UNSEEN)
    assert answer_key(answer) == answer_key(answer + UNSEEN)
