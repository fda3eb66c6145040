"""What the page says when there is no answer, or not yet, or none that can be relied on."""

import asyncio
import json
import threading
from typing import Any

import pytest

from demur.api_keys import make_key
from demur.engine.base import EngineDead, EngineOverloaded
from demur.engine.scripted import Gate, Script

pytestmark = pytest.mark.browser

STEPS = """Solution:
<Confidence value=0.97 text="a small product">2 * 20 = 40</Confidence>
<Confidence value=0.41 text="the sum was not checked">40 + 30 = 70</Confidence>
Answer:70"""


class StillLoading:
    """A proxy in front of a server that still loads: `/ready` is a 503 until `loaded` is set."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.loaded = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/ready" and not self.loaded.is_set():
            await send({"type": "http.response.start", "status": 503, "headers": []})
            await send({"type": "http.response.body", "body": b"upstream is not there"})
            return
        await self._app(scope, receive, send)


class CutsTheLine:
    """A proxy that loses the connection in the middle of an answer: at the next piece once `cut` is set."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.cut = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def until_cut(message: Any) -> None:
            if self.cut.is_set():
                raise ConnectionResetError("the line was cut")
            await send(message)

        await self._app(scope, receive, until_cut if scope.get("path") == "/v1/answers" else send)


class LibrariesComeLate:
    """A slow line: the libraries for maths and Markdown stay away until `come` is set."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.come = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope.get("path", "").startswith("/vendor/") and scope["path"].endswith(".js"):
            await asyncio.to_thread(self.come.wait, 60)
        await self._app(scope, receive, send)


def test_on_a_slow_line_the_answer_waits_for_no_library(visit) -> None:
    fronts: list[LibrariesComeLate] = []
    steps = STEPS.replace("2 * 20 = 40", r"$2 \cdot 20 = \frac{80}{2}$")
    page = visit({"eggs": steps}, front=lambda app: fronts.append(LibrariesComeLate(app)) or fronts[0])
    page.answer("How many eggs?", t=0.5)
    assert page.find(".step .text").first.inner_text() == r"$2 \cdot 20 = \frac{80}{2}$"
    fronts[0].come.set()
    page.find(".step mfrac").wait_for()


def test_a_loading_model_is_waited_for(visit) -> None:
    fronts: list[StillLoading] = []
    page = visit({"eggs": STEPS}, front=lambda app: fronts.append(StillLoading(app)) or fronts[0], wait=False)
    page.find("#notice:has-text('The model is loading')").wait_for()
    assert page.find("#send").is_disabled()
    assert "The model is loading" in page.find("#announcer").inner_text()
    page.find("#question").fill("How many eggs?")
    page.page.keyboard.press("Enter")
    assert page.asked() == []
    fronts[0].loaded.set()
    page.find("#send:enabled").wait_for()
    assert page.find("#notice").is_hidden()
    page.find("#send").click()
    page.wait_for("answer")


def test_a_connection_that_breaks_leaves_what_was_shown_marked_as_unfinished(visit) -> None:
    gate, fronts = Gate(), []
    script = Script([STEPS], gates={len(STEPS.partition("40 +")[0].split()): gate})
    page = visit({"eggs": script}, front=lambda app: fronts.append(CutsTheLine(app)) or fronts[0])
    page.ask("How many eggs?", t=0.5)
    page.find(".step:not(.writing)").wait_for()
    fronts[0].cut.set()
    gate.open()
    verdict = page.wait_for("failed")
    assert "The connection broke off" in verdict.inner_text()
    assert "do not rely on it" in verdict.inner_text()
    assert page.find("#result.unfinished .step .text").first.inner_text() == "2 * 20 = 40"
    assert page.find(".actions button:text-is('Ask again')").is_enabled()


def test_an_engine_that_dies_is_an_error_with_its_words(visit) -> None:
    page = visit({"eggs": Script([STEPS], error=EngineDead("gone"), error_after=12)})
    page.ask("How many eggs?", t=0.5)
    verdict = page.wait_for("failed")
    assert "The server could not answer" in verdict.inner_text()
    assert "the model stopped" in verdict.inner_text()
    assert "do not rely on it" in verdict.inner_text()


def test_a_busy_server_says_when_to_come_back(visit) -> None:
    page = visit({"eggs": Script([""], error=EngineOverloaded("full", retry_after=3))})
    page.page.clock.install()
    page.ask("How many eggs?", t=0.5)
    verdict = page.wait_for("failed")
    assert "The server is busy" in verdict.inner_text()
    again = page.find(".actions button")
    assert again.inner_text() == "Ask again in 3 s"
    assert again.is_disabled()
    page.page.clock.run_for(1000)
    assert again.inner_text() == "Ask again in 2 s"
    page.page.clock.run_for(2000)
    assert again.inner_text() == "Ask again"
    assert len(page.asked()) == 1, "nothing is asked again by itself"
    again.click()
    page.find(".actions button:text-is('Ask again in 3 s')").wait_for()
    assert len(page.asked()) == 2


def test_a_refused_option_is_named(visit) -> None:
    page = visit({"eggs": STEPS})
    page.find("#options summary").click()
    page.find("[name=samples]").fill("65")
    page.ask("How many eggs?")
    verdict = page.wait_for("failed")
    assert "samples may be at most 64" in verdict.inner_text()
    assert "(samples)" in verdict.inner_text()


@pytest.mark.parametrize(
    ("text", "contract", "words"),
    [
        ("I would rather talk about hens.", "response", "holds no answer that can be read"),
        ("I would rather talk about hens.", "claims", "holds no answer that can be read"),
        ("Seventy.\nAnswer: 70", "response", "did not say how sure it is"),
        ("Seventy.\nAnswer: 70\nConfidence: very", "response", "is not a probability"),
    ],
)
def test_unreadable_output_says_what_is_missing_and_offers_the_raw_output(visit, text, contract, words) -> None:
    page = visit({"eggs": text})
    verdict = page.answer("How many eggs?", contract=contract, t=0.5)
    assert verdict.get_attribute("data-kind") == "abstain"
    assert words in verdict.inner_text()
    page.find(".raw summary").click()
    page.find(".raw .code:not(:empty)").wait_for()
    assert page.find(".raw .code").inner_text() == text


def test_without_a_confidence_an_answer_shows_at_zero_only(visit) -> None:
    page = visit({"eggs": "Seventy.\nAnswer: 70"})
    page.answer("How many eggs?", contract="response", t=0.5)
    page.find("button:text-is('Show it at 0%')").click()
    assert page.find(".answer").inner_text() == "70"
    page.move(0.01)
    assert page.find(".answer").is_hidden()


def test_an_output_that_was_cut_says_so(visit) -> None:
    page = visit({"eggs": STEPS})
    page.find("#options summary").click()
    page.find("[name=max_tokens]").fill("3")
    assert "cut off at the token limit" in page.answer("How many eggs?").inner_text()


def test_a_step_without_a_readable_confidence_is_marked_at_every_threshold(visit) -> None:
    page = visit({"eggs": STEPS.replace("0.97", "high")})
    page.answer("How many eggs?", t=0)
    assert page.find(".step").first.get_attribute("class") == "step doubted open"
    assert page.find(".step .number").first.inner_text() == "none"
    assert "is not a number" in page.find(".step .problem").first.inner_text()
    assert "the whole has none" in page.find(".verdict").inner_text()


def test_an_uncalibrated_model_is_labelled_beside_every_confidence(visit) -> None:
    page = visit({"eggs": STEPS}, manifest={"calibrated": False})
    assert page.find("#model").inner_text().split("\n")[-1] == "not calibrated"
    assert "Not calibrated: nobody has checked" in page.answer("How many eggs?").inner_text()


def test_a_calibrated_model_is_not(visit) -> None:
    page = visit({"eggs": STEPS})
    assert "Not calibrated" not in page.answer("How many eggs?").inner_text()


def test_the_raw_output_stays_out_of_the_page_until_it_is_opened(visit) -> None:
    page = visit({"eggs": "Secret thoughts.\n" + STEPS})
    page.answer("How many eggs?")
    assert "Secret thoughts" not in page.page.content()
    page.find(".raw summary").click()
    page.find(".raw .code:has-text('Secret thoughts')").wait_for()
    assert "<Confidence value=0.97" in page.find(".raw .code").inner_text()


def test_a_server_with_keys_asks_for_one_until_it_opens(visit) -> None:
    key, shown = make_key("reader")
    page = visit({"eggs": STEPS}, wait=False, keys=json.dumps({"keys": [key.model_dump(mode="json")]}))
    page.find("#notice:has-text('A key is needed')").wait_for()
    assert page.find("#send").is_disabled()
    page.find("#key").fill("demur_wrong")
    page.page.keyboard.press("Enter")
    page.find("#notice:has-text('The server says')").wait_for()
    page.find("#key").fill(shown)
    page.find("#notice button").click()
    page.find("#send:enabled").wait_for()
    assert page.find("#notice").is_hidden()
    page.answer("How many eggs?", t=0.5)
    page.find(".program summary").click()
    page.find(".program input[value=curl]").check()
    code = page.find(".program .code").inner_text()
    assert "Bearer $DEMUR_API_KEY" in code
    assert shown not in page.page.content()
    assert shown not in code
