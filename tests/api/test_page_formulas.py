"""From LaTeX to trees, on the server's side. Needs no browser."""

import asyncio
import random
import threading

import pytest

from demur.api.maths import ATTRIBUTES, ELEMENTS, MAX_FORMULA, MAX_FORMULAS, MAX_TOTAL, Threads, to_tree


def texts(tree) -> str:
    return tree if isinstance(tree, str) else "".join(texts(child) for child in tree[2:])


def nodes(tree):
    if not isinstance(tree, str):
        yield tree
        for child in tree[2:]:
            yield from nodes(child)


@pytest.mark.parametrize(
    ("latex", "tag", "text"),
    [
        (r"\frac{60}{13}", "mfrac", "6013"),
        (r"\sqrt{a^2+b^2}", "msqrt", "a2+b2"),
        (r"x_1^2", "msubsup", "x12"),
        (r"\boxed{42}", "menclose", "42"),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "mtable", "(1234)"),
        (r"\begin{aligned}a&=b\\&=c\end{aligned}", "mtable", "a=b=c"),
        (r"\sum_{i=1}^n i", "msubsup", "∑i=1ni"),
        (r"\text{if } a < b \text{ \& c}", "mtext", "if\xa0a<b\xa0&\xa0c"),
    ],
)
def test_formulas(latex, tag, text) -> None:
    tree = to_tree(latex)
    assert tree is not None
    assert tag in {node[0] for node in nodes(tree)}
    assert texts(tree).replace("\\", "") == text


@pytest.mark.parametrize(
    "latex",
    [
        "",
        r"\frac",
        "{",
        "x_1_2",
        r"\left(",
        r"\begin{nothing}",
        r"\nosuchcommand{x}",
        r"\def\a{xx}\a",
        r"\newcommand{\q}{\q\q}\q",
        r"\unicode{x202e}",
        "a\u202eb",
        "\\sqrt{" * 80 + "x" + "}" * 80,
        "{" * 400 + "}" * 400,
    ],
)
def test_what_cannot_be_shown_as_maths_is_no_tree(latex) -> None:
    assert to_tree(latex) is None


@pytest.mark.parametrize(
    "latex",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\style{position:fixed}{x}",
        r"\class{answer}{x}",
        r"\color{red}{x}",
        r"\rule{1em}{1em}x",
        r"\hspace{9999em}x",
    ],
)
def test_no_attribute_leads_out_of_the_formula(latex) -> None:
    tree = to_tree(latex)
    assert tree is not None
    found = [(name, value) for node in nodes(tree) for name, value in node[1].items()]
    assert all(name in ("width", "displaystyle", "scriptlevel") and "9999" not in value for name, value in found)


def test_random_latex_gives_listed_elements_or_nothing() -> None:
    pieces = [
        r"\frac",
        r"\sqrt",
        r"\left(",
        r"\right)",
        r"{",
        r"}",
        r"[",
        r"]",
        r"^",
        r"_",
        r"&",
        r"\\",
        r"x",
        r"1",
        r"\text",
        r"\begin{matrix}",
        r"\end{matrix}",
        r"\hspace",
        r"\color",
        r"\over",
        r"\not",
        r"\limits",
        r"\mathbb",
        r"\overline",
        r"\binom",
        r"\boxed",
        r"%",
        r"$",
        r"~",
        r"\,",
        r"#",
        r"\unicode",
        r"\style",
        r"\href",
        r"\tag",
        r"\genfrac",
        r"\substack",
        r"'",
    ]
    dice = random.Random(7)
    for _ in range(1500):
        tree = to_tree(" ".join(dice.choices(pieces, k=dice.randint(1, 12))))
        for node in nodes(tree or ""):
            assert node[0] in ELEMENTS
            assert node[1].keys() <= ATTRIBUTES


@pytest.mark.parametrize(
    "formulas",
    [
        [{"latex": "x" * (MAX_FORMULA + 1)}],
        [{"latex": "x"}] * (MAX_FORMULAS + 1),
        [{"latex": "x" * MAX_FORMULA}] * (MAX_TOTAL // MAX_FORMULA + 1),
        [{"latex": 1}],
        [{"latex": "x", "colour": "red"}],
        "x",
    ],
)
def test_requests_are_bounded(make, formulas) -> None:
    reply = make().call("POST", "/page/maths", json={"formulas": formulas})
    assert reply.status_code == 400
    assert reply.json()["error"]["param"].startswith("formulas")


def test_trees_come_in_the_order_of_the_formulas(make) -> None:
    asked = [{"latex": "x"}, {"latex": "{"}, {"latex": "y", "display": True}]
    reply = make().call("POST", "/page/maths", json={"formulas": asked})
    assert [tree and texts(tree) for tree in reply.json()["formulas"]] == ["x", None, "y"]


def test_a_crowd_waits_in_a_short_line_and_the_rest_is_told_so() -> None:
    at_work, done = threading.Event(), threading.Event()

    def work() -> str:
        at_work.set()
        assert done.wait(10)
        return "tree"

    async def crowd() -> list[str | BaseException]:
        threads = Threads(at_once=1, max_waiting=3)
        asked = [asyncio.create_task(threads.run(work)) for _ in range(10)]
        await asyncio.to_thread(at_work.wait, 10)
        await asyncio.wait(asked[4:])
        done.set()
        replies = await asyncio.gather(*asked, return_exceptions=True)
        return [*replies, await threads.run(work)]

    replies = asyncio.run(crowd())
    assert replies[:4] == ["tree"] * 4
    assert [(error.status, error.headers) for error in replies[4:-1]] == [(429, {"retry-after": "1"})] * 6
    assert replies[-1] == "tree"
