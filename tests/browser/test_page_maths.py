"""Maths is shown as maths; what cannot be is shown as it was written."""

import re

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


def test_a_whole_answer_of_formulas_asks_the_server_for_none(visit) -> None:
    """Each was a request once, counted against the caller's quota."""
    steps = "\n".join(f'<Confidence value=0.9 text="">$x_{{{i}}}$</Confidence>' for i in range(100))
    page = visit({"row": f"Solution:\n{steps}\nAnswer:1"})
    page.answer("Which row?", t=0.5)
    page.find(".step math").nth(99).wait_for(state="attached")
    assert [r.url for r in page.requests if r.method == "POST"] == [f"{page.url}/v1/answers"]


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
    ("$" + "x" * 2001 + "$", ["$" + "x" * 2001 + "$"]),
    (r"$\text{if $x>0$} y$ z", [(r"\text{if $x>0$} y", False), " z"]),
    (r"a $b} $ c", [r"a $b} $ c"]),
    (r"\boxed{\text{a}} {b}", [(r"\boxed{\text{a}}", False), " {b}"]),
]


@pytest.mark.parametrize(("text", "pieces"), SPLITS)
def test_where_the_maths_is(still, text, pieces) -> None:
    found = still.evaluate("async (text) => (await import('/js/formulas.js')).splitFormulas(text)", text)
    assert "".join(piece["text"] for piece in found) == text
    assert [(p["latex"], p["display"]) if "latex" in p else p["text"] for p in found] == pieces


def test_splitting_stays_linear(still) -> None:
    """Texts built to make the expression try again at every character: all of them are done within a test's time."""
    for hostile in ("$a", "\\(", "\\[", "\\boxed{", "\\boxed{{", "\\begin{a}", "$$", "$\\", "$${", "\\("):
        count = still.evaluate(
            "async (text) => (await import('/js/formulas.js')).splitFormulas(text).length", hostile * 5000
        )
        assert count >= 1


@pytest.mark.parametrize(
    ("latex", "rows"),
    [
        (r"$$p=q \\ r=s$$", 2),
        (r"\[p&=q \\ &=s\]", 2),
        (r"$p=q \\ r=s$", 2),
        (r"\begin{alignat}{2}p&=q&r&=s\\t&=u&v&=w\end{alignat}", 2),
        (r"\begin{gather*}p\\q\end{gather*}", 2),
        (r"\begin{eqnarray}p&=&q\\&=&r\end{eqnarray}", 2),
        (r"$|x|=\begin{dcases}x&x\ge0\\-x&x<0\end{dcases}$", 2),
    ],
)
def test_lines_of_a_formula_stay_lines(render, latex, rows) -> None:
    """One after the other on a line, "p = q" and "r = s" would read "p = qr = s"."""
    assert render(latex).count("<mtr") == rows


@pytest.mark.parametrize(
    ("latex", "mark"),
    [
        (r"$\cancel{7}x$", "tml-cancel"),
        (r"\begin{array}{c}p\\\hline q\end{array}", "border-"),
        (r"$\text{if $x>0$}$", "<mo>&gt;"),
    ],
)
def test_what_a_formula_marks_stays_marked(render, latex, mark) -> None:
    assert mark in render(latex)


@pytest.mark.parametrize(
    "latex",
    [
        r"$\href{https://evil.example}{x}$", r"$\url{https://evil.example}$", r"$\includegraphics{x.png}$",
        r"$\def\a{b}\a$", r"$\gdef\x{y}$", r"$\let\a\b$", r"$\newcommand{\a}{b}$", r"$\nosuchcommand{x}$",
        r"$\cancelto{0}{x}$", r"$\class{main}{x}$", r"$\id{send}{x}$", r"$\style{color:red}{x}$", r"$\data{a=b}{x}$",
        r"$\char"+'"202E x$', "$" + r"\sqrt{" * 250 + "}" * 250 + "$",
        "$$" + "x" * 1_000_000 + "$$",
    ],
)  # fmt: skip
def test_hostile_formulas_stay_as_written(render, latex) -> None:
    html = render(latex)
    assert "<math" not in html
    assert not any(f"<{tag}" in html for tag in ("a ", "img", "script", "svg"))


@pytest.mark.parametrize(
    "latex", [r"\color{white}{x}", r"\textcolor{#fff}{x}", r"\colorbox{red}{x}", r"\tiny x", r"x\kern-9em y"]
)
def test_a_formula_hides_and_overprints_nothing(render, latex) -> None:
    html = re.sub(r'data-source="[^"]*"', "", render(f"${latex}$"))
    assert "<math" in html
    assert not any(found in html for found in ("color", "mathsize", "font-size", "-9em"))


def test_braces_stretch(visit) -> None:
    """Without a font made for maths they stay as small as a letter."""
    page = visit(
        {"rows": r"Answer: \left\{\begin{matrix}p\\q\\r\end{matrix}\right\}\nConfidence: 0.9".replace("\\n", "\n")}
    )
    page.answer("Which rows?", contract="response", t=0.5)
    height = "document.querySelector('mo[stretchy=true]')?.getBoundingClientRect().height"
    page.page.wait_for_function(f"() => {height} > 60")


def test_roots_have_their_sign(visit) -> None:
    """The browser draws it from the font: it is in no formula's source, nor in what becomes of one."""
    page = visit({"root": "Answer: \\sqrt{w}\nConfidence: 0.9"})
    page.answer("Which root?", contract="response", t=0.5)
    width = "(name) => document.querySelector(name)?.getBoundingClientRect().width ?? 0"
    page.page.wait_for_function(f"() => ({width})('msqrt') > ({width})('msqrt > *') + 5")


@pytest.mark.parametrize(
    "node",
    [
        {"type": "script", "attributes": {}, "children": [{"text": "x"}]},
        {"type": "math", "attributes": {}, "children": [{"type": "img", "attributes": {"src": "x"}, "children": []}]},
        {"type": "maction", "attributes": {}, "children": []},
        {"attributes": {"href": "x"}, "children": [], "classes": ["a"]},
        {"type": "mi", "attributes": {}, "children": [{"text": "a\u202eb"}]},
    ],
)
def test_the_page_has_an_allow_list_of_its_own(still, node) -> None:
    """Whatever the library would let through."""
    built = "async (node) => (await import('/js/maths.js')).build(node, 100) === null"
    assert still.evaluate(built, node)


def test_of_attributes_styles_and_classes_only_the_harmless_stay(still) -> None:
    node = {
        "type": "mi", "children": [{"text": "x"}], "classes": ["tml-left", "main", "quiet"],
        "attributes": {"href": "x", "onclick": "x", "id": "send", "width": "2em", "lspace": "-20em", "mathcolor": "#fff"},
        "style": {"position": "fixed", "color": "red", "paddingLeft": "1em", "padding": "9999px"},
    }  # fmt: skip
    html = still.evaluate("async (node) => (await import('/js/maths.js')).build(node, 9).outerHTML", node)
    assert set(re.findall(r'([a-z]+)="([^"]*)"', html)) == {
        ("width", "2em"),
        ("style", "padding-left: 1em;"),
        ("class", "tml-left"),
    }


@pytest.mark.parametrize(
    ("answer", "bare"),
    [
        (r"\frac{1}{2}", True),
        (r"\left\{\begin{matrix}p\\q\end{matrix}\right\}", True),
        (r"$\frac{1}{2}$", False),
        (r"\boxed{7}", False),
        ("7 apples", False),
        (r"$x$ or \frac{1}{2}", False),
    ],
)
def test_an_answer_of_nothing_but_latex_needs_no_delimiters(still, answer, bare) -> None:
    found = still.evaluate("async (text) => (await import('/js/formulas.js')).isBareLatex(text)", answer)
    assert found is bare
