"""Maths is shown as maths; what cannot be is shown as it was written."""

import pytest

pytestmark = pytest.mark.browser

STEPS = r"""Solution:
<Confidence value=0.9 text="so $a^2$ is small">By Pythagoras, $c = \sqrt{a^2 + b^2}$ and \(a < b\).</Confidence>
<Confidence value=0.8 text="arithmetic">$$c = \frac{60}{13}$$</Confidence>
<Confidence value=0.7 text="prices">It costs $5 and $6, and $\nosuchcommand{x}$ stays.</Confidence>
Answer:\frac{60}{13}"""


def test_formulas_become_mathml(visit) -> None:
    page = visit({"triangle": STEPS})
    page.answer("Which triangle?", t=0.5)
    first = page.find(".step .text").nth(0)
    first.locator("math").nth(1).wait_for()
    assert first.locator("msqrt msup").count() == 2
    assert first.locator("math").nth(1).locator("mo").text_content() == "<"
    assert page.find(".step .text").nth(1).locator("math[display=block] mfrac").count() == 1
    assert page.find(".why math msup").count() == 1
    assert page.find(".answer math mfrac").count() == 1


def test_prices_and_unknown_commands_stay_as_written(visit) -> None:
    page = visit({"triangle": STEPS})
    page.answer("Which triangle?", t=0.5)
    page.find(".answer math").wait_for()
    last = page.find(".step .text").nth(2)
    assert last.inner_text() == r"It costs $5 and $6, and $\nosuchcommand{x}$ stays."
    assert last.locator("math").count() == 0


def test_a_formula_is_converted_once(visit) -> None:
    page = visit({"triangle": STEPS})
    page.answer("Which triangle?", t=0.5)
    page.find(".answer math").wait_for()
    before = len(page.requests)
    page.answer("Which triangle again?", t=0.5)
    page.find(".answer math").wait_for()
    assert [r.url for r in page.requests[before:] if r.url.endswith("/page/maths")] == []


def test_many_formulas_are_asked_for_in_bounded_batches(visit) -> None:
    steps = "\n".join(f'<Confidence value=0.9 text="">$x_{{{i}}}$</Confidence>' for i in range(100))
    page = visit({"row": f"Solution:\n{steps}\nAnswer:1"})
    page.answer("Which row?", t=0.5)
    page.find(".step math").nth(99).wait_for(state="attached")
    sizes = [len(r.post_data_json["formulas"]) for r in page.requests if r.url.endswith("/page/maths")]
    assert max(sizes) <= 32


SPLITS = [
    ("no maths", ["no maths"]),
    ("$a$", [("a", False)]),
    ("$$a$$ b", [("a", True), " b"]),
    (r"\[a\] and \(b\)", [("a", True), " and ", ("b", False)]),
    ("from $5 to $10", ["from $5 to $10"]),
    (r"\$5 and \$6", [r"\$5 and \$6"]),
    (r"$\$5$", [(r"\$5", False)]),
    ("a $ b $ c", ["a $ b $ c"]),
    ("$a\nb$", ["$a\nb$"]),
    (r"so \boxed{\frac{1}{2}}.", ["so ", (r"\boxed{\frac{1}{2}}", False), "."]),
    (r"\begin{align*}a&=b\end{align*}", [(r"\begin{align*}a&=b\end{align*}", True)]),
    ("$unclosed", ["$unclosed"]),
    ("$" + "x" * 2000 + "$", ["$" + "x" * 2000 + "$"]),
]


@pytest.mark.parametrize(("text", "pieces"), SPLITS)
def test_where_the_maths_is(visit, text, pieces) -> None:
    found = visit({}).page.evaluate("async (text) => (await import('/js/formulas.js')).splitFormulas(text)", text)
    assert "".join(piece["text"] for piece in found) == text
    assert [(p["latex"], p["display"]) if "latex" in p else p["text"] for p in found] == pieces


def test_splitting_stays_linear(visit) -> None:
    """Texts built to make the expression try again at every character: all of them are done within a test's time."""
    page = visit({}).page
    for hostile in ("$a", "\\(", "\\[", "\\boxed{", "\\boxed{{", "\\begin{a}", "$$", "$\\"):
        count = page.evaluate(
            "async (text) => (await import('/js/formulas.js')).splitFormulas(text).length", hostile * 5000
        )
        assert count >= 1


@pytest.mark.parametrize(
    "tree",
    [
        ["math", {}, ["script", {}, "x"]],
        ["math", {}, ["mtext", {}, ["img", {"src": "x"}]]],
        ["svg", {}, "x"],
        ["math", {}, ["maction", {}, "x"]],
    ],
)
def test_the_page_has_an_allow_list_of_its_own(visit, tree) -> None:
    """Whatever the server's converter would let through."""
    text = visit({}).page.evaluate(
        """async (tree) => {
          const { Maths } = await import('/js/mathml.js');
          const place = document.createElement('span');
          place.textContent = 'source';
          const converted = Promise.resolve([tree]);
          new Maths(() => converted).show(place, { latex: 'x', display: false });
          await new Promise((done) => queueMicrotask(done));
          await converted;
          await new Promise((done) => setTimeout(done));
          return place.innerHTML;
        }""",
        tree,
    )
    assert text == "source"
