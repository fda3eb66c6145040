"""Markdown is shown as it is meant; it hides nothing, links nowhere, and never changes what a solution says."""

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("so **17** is *prime*", "so <strong>17</strong> is <em>prime</em>"),
        ("call `f(x)` twice", "call <code>f(x)</code> twice"),
        ("## Plan", '<p class="heading">Plan</p>'),
        ("one\ntwo **3**", "one<br>two <strong>3</strong>"),
        ("a **b $x$ c**", "</math></span> c</strong>"),
        ("```python\nprint(1)\n```", '<span class="language">python</span><code>print(1)</code>'),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "<td>1</td><td>2</td>"),
        ("7. seven\n8. eight", '<li><span class="marker">8. </span>eight</li>'),
        ("`$HOME` and `a*b*c`", "<code>$HOME</code> and <code>a*b*c</code>"),
    ],
)
def test_markdown(render, text, html) -> None:
    assert html in render(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2*3*4 = 24", "2*3*4 = 24"),
        ("2**3**2 = 512 and (a)*(b)*(c)", "2**3**2 = 512 and (a)*(b)*(c)"),
        ("a_1 and b_2_3 and __init__.py", "a_1 and b_2_3 and __init__.py"),
        ("> 5 apples", "&gt; 5 apples"),
        ("- 4 = 6", '<ul role="list"><li><span class="marker">- </span>4 = 6</li></ul>'),
        ("12\n===\n`x`", "12<br>===<br><code>x</code>"),
        ("    indented $5", "indented $5"),
        ("&lt;b&gt; `x`", "&amp;lt;b&amp;gt; <code>x</code>"),
        ("[1]: https://evil.example\n`x`", "[1]: https://evil.example<br><code>x</code>"),
    ],
)
def test_signs_of_a_solution_stay(render, text, shown) -> None:
    assert render(text) == shown


def test_maths_on_lines_of_its_own_is_no_list_and_no_heading(render) -> None:
    html = render("So:\n$$\na\n=\nb\n- c\n$$\nand `x`")
    assert html.count("<math") == 1
    assert not any(f"<{tag}" in html for tag in ("ul", "hr", "h2"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[click](https://evil.example)", "click (https://evil.example)"),
        ("[click](javascript:alert(1))", "click (javascript:alert(1))"),
        ("![seen](https://evil.example/x.png)", "seen (https://evil.example/x.png)"),
        ('[a](https://evil.example "said 5")', "a (https://evil.example said 5)"),
        ("<https://evil.example> `x`", "&lt;https://evil.example&gt; "),
        ("www.evil.example `x`", "www.evil.example "),
        ("<img src=x onerror=alert(1)> **b**", "&lt;img src=x onerror=alert(1)&gt; "),
        ("<script>alert(1)</script>\n\n**b**", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("<!-- gone --> **b**", "&lt;!-- gone --&gt; "),
    ],
)
def test_addresses_and_html_are_words(render, text, shown) -> None:
    html = render(text)
    assert shown in html
    assert not any(f"<{tag}" in html for tag in ("a ", "a>", "img", "script", "iframe"))


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|---|---|\n| 1 | 2 | hidden 3 |",
        "a \u202e **b**",
        "`x` \u3164 y",
        "".join(f"{'  ' * level}- {level}\n" for level in range(40)),
        "- " * 9_999 + "9",
        "> " * 9_999 + "`9`",
        "*" * 19_999,
        "[" * 9_999 + "9" + "]" * 9_999,
        "**a " * 4_000,
        "`" * 10_000 + " 9 " + "`" * 9_000,
        "![" * 6_000 + "9" + "](x)" * 1_000,
        "$x$ **b** " * 1_500,
        "|" * 9_000 + "\n" + "|-" * 4_000,
        "\0 **b** 9",
    ],
)
def test_no_letter_and_no_digit_is_lost(still, text) -> None:
    """Whatever a list or table would swallow is shown as it was written; deep or long, it is done within a test's time."""
    said = still.evaluate(
        """async (text) => {
          await (await import('/js/libraries.js')).loadLibraries();
          const place = document.createElement('div');
          new (await import('/js/prose.js')).Prose().write(place, text);
          for (const one of place.querySelectorAll('[data-source]')) one.textContent = one.dataset.source;
          for (const one of place.querySelectorAll('.more, .invisible')) one.remove();
          return place.textContent;
        }""",
        text,
    )
    kept = lambda words: [char for char in words if char.isalnum() and char != "\u3164"]  # noqa: E731
    assert kept(said) == kept(text)


def test_lists_of_ten_thousand_levels_are_shown_in_pieces(visit) -> None:
    deep = "\n".join(f"{' ' * (2 * (level % 400))}- {level}" for level in range(10_000))
    page = visit({"deep": f"Answer: 1\nConfidence: 0.9\n{deep}", "next": "Answer: 2\nConfidence: 0.9"})
    page.answer("How deep?", contract="response", t=0)
    page.answer("And next?", contract="response", t=0)
    assert page.find(".answer").inner_text() == "2"


def test_an_answer_is_plain_until_the_libraries_are_there(visit) -> None:
    """And plain it stays where one cannot be loaded."""
    page = visit({"eggs": "So **12**.\nAnswer: 12\nConfidence: 0.9"})
    page.page.route("**/vendor/markdown-it.js", lambda route: route.abort())
    page.answer("How many eggs?", contract="response", t=0.5)
    page.find(".plain .text").wait_for()
    assert page.find(".plain .text").inner_text() == "So **12**."
    page.page.unroute("**/vendor/markdown-it.js")
