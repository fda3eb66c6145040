"""Model output is untrusted: whatever it says, it stays text."""

import json
import re
from pathlib import Path

import httpx
import pytest

from demur.engine.scripted import ScriptedEngine

pytestmark = pytest.mark.browser
VECTOR = json.loads((Path(__file__).parents[1] / "vectors/replies/claims-hostile.json").read_text())

ATTACKS = [
    "<script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title = 'owned'\">",
    "<svg onload=\"document.title = 'owned'\"></svg>",
    "<style>body { display: none }</style>",
    "<iframe srcdoc=\"<script>parent.document.title = 'owned'</script>\"></iframe>",
    "<a href=\"javascript:document.title='owned'\">click</a>",
    "<base href=https://elsewhere.example/>",
    "<meta http-equiv=refresh content=0;url=https://elsewhere.example/>",
    "</div></li></ol></section><h1 id=title>owned</h1>",
    "<math><maction actiontype=statusline xlink:href=javascript:alert(1)>x</maction></math>",
    "&lt;b&gt; &amp; &#x3C;i&#x3E;",
    "${document.title = 'owned'} {{constructor.constructor('alert(1)')()}}",
    r"$\href{javascript:alert(1)}{x}$ $\style{position:fixed}{x}$ $\class{answer}{x}$",
]


def claims(*steps: str, reason: str = "why") -> str:
    tags = "\n".join(f'<Confidence value=0.4 text="{reason}">{step}</Confidence>' for step in steps)
    return f"Solution:\n{tags}\nAnswer:70"


def writes(text: str) -> ScriptedEngine:
    """An engine that says a lot, a few thousand characters at a time, and is not cut off."""
    return ScriptedEngine(lambda _: text, chunker=lambda all: re.findall(r"(?s).{1,4096}", all), max_model_len=10**7)


ENDLESS = {"sampling": {"max_tokens": 10**6}}


def test_markup_in_every_place_stays_text(visit) -> None:
    page = visit({"eggs": claims(*ATTACKS)})
    page.answer("How many eggs?", t=0.5)
    shown = page.find(".step .text").all_inner_texts()
    assert shown == ATTACKS
    page.find(".raw summary").click()
    page.find(".program summary").click()
    page.find(".raw .code:not(:empty)").wait_for()
    page.find(".program .code:not(:empty)").wait_for()
    made = page.page.evaluate("[...document.querySelectorAll('main *')].map((one) => one.localName)")
    assert not {"script", "img", "svg", "style", "iframe", "a", "base", "meta", "maction"} & set(made)
    assert page.page.title() == "demur"
    assert page.find("h1").count() == 1


@pytest.mark.parametrize("attack", ATTACKS[:5])
def test_markup_in_reason_and_answer_stays_text(visit, attack) -> None:
    reason = attack.replace('"', "'")
    page = visit({"eggs": f"{claims('It is.', reason=reason).rpartition(':')[0]}:{attack}"})
    page.answer("How many eggs?", t=0.5)
    assert page.find(".why").inner_text() == reason
    assert page.find(".answer").inner_text() == attack
    assert page.page.title() == "demur"


def test_the_hostile_vector_shows_its_invisible_characters(visit) -> None:
    page = visit({"eggs": VECTOR["completions"][0]["text"]})
    page.answer("How many eggs?", t=0.8)
    assert page.find(".step .text").last.inner_text() == "U+001B[2JU+001B]0;ownedU+0007U+202E07 si tiU+202C"
    assert page.find(".answer").inner_text() == "<b>70</b>"
    assert "\u202e" not in page.page.content()


def test_directions_of_one_step_do_not_reach_the_next(visit) -> None:
    page = visit({"eggs": claims("\u202eabc", "שלום 12", "plain")})
    page.answer("How many eggs?", t=0.5)
    directions = page.find(".step .text").evaluate_all(
        "(all) => all.map((one) => [getComputedStyle(one).direction, getComputedStyle(one).unicodeBidi])"
    )
    assert directions == [["ltr", "isolate"], ["rtl", "isolate"], ["ltr", "isolate"]]
    assert page.find(".invisible").get_attribute("title") == "right-to-left override that the model wrote"


@pytest.mark.parametrize(
    "char", "\u00ad\u034f\u115f\u17b4\u2800\u3164\uffa0\ufe00\U000e0041\U000e0100\U000e01ef\U0001d173"
)
def test_characters_that_nobody_sees_are_shown_by_their_numbers(render, char) -> None:
    assert f">U+{ord(char):04X}<" in render(f"1{char}0")


def test_ten_thousand_invisible_characters_are_one_mark(visit) -> None:
    page = visit({"eggs": claims("a" + "\u200b" * 10_000 + "b")})
    page.answer("How many eggs?", t=0.5)
    assert page.find(".step .text").inner_text() == "aU+200B×10000b"


def test_a_claim_of_a_megabyte_does_not_freeze_the_page(visit) -> None:
    """The page stays quick because it lays out a part of it; the rest is a click away, and counted."""
    page = visit(writes(claims("x $y$ <b> " * 100_000, reason="y" * 200_000)), manifest=ENDLESS)
    page.answer("How many eggs?", t=0.5)
    text = page.find(".step .text")
    assert text.evaluate("(one) => one.textContent.length") < 50_000
    assert "characters left" in text.locator(".more").inner_text()
    page.move(0.3)
    assert page.find(".step.doubted").count() == 0
    length = text.evaluate("(one) => one.textContent.length")
    text.locator(".more").click()
    assert text.evaluate("(one) => one.textContent.length") > length + 15_000


def test_thousands_of_claims_follow_the_slider(visit) -> None:
    page = visit(writes(claims(*(f"step {i}" for i in range(2_000)))), manifest=ENDLESS)
    page.answer("How many eggs?", t=0.5)
    assert page.find(".step.doubted").count() == 2_000
    page.move(0.3)
    assert page.find(".step.doubted").count() == 0


def test_the_policy_allows_nothing_but_the_pages_own_files(serve) -> None:
    url, _ = serve({})
    for path in ("/", "/js/main.js", "/style/base.css", "/icon.svg"):
        headers = httpx.get(url + path).headers
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert {policy[kind] for kind in ("script-src", "style-src", "connect-src", "img-src", "font-src")} == {
            "'self'"
        }
        assert policy["trusted-types"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


REFUSED = {
    "markup from a string": "document.body.innerHTML = '<b>markup</b>'",
    "code from a string": "setTimeout('document.title = 1')",
    "a script in the page": "document.body.append(Object.assign(document.createElement('script'), { text: '1' }))",
    "another host": "await fetch('https://elsewhere.example/')",
    "an inline style": "document.body.setAttribute('style', 'color: red')",
}


@pytest.mark.parametrize("attempt", REFUSED.values(), ids=REFUSED)
def test_the_browser_refuses_what_the_policy_forbids(visit, attempt) -> None:
    page = visit({})
    directives = page.page.evaluate(
        f"""async () => {{
          const seen = new Promise((done) => addEventListener('securitypolicyviolation', done));
          try {{ {attempt} }} catch {{ }}
          return (await seen).effectiveDirective;
        }}"""
    )
    assert directives in {"require-trusted-types-for", "script-src", "script-src-elem", "connect-src", "style-src-attr"}
    page.errors.clear()
    page.requests = [request for request in page.requests if "elsewhere" not in request.url]
