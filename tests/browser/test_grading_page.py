"""The grading page in a real browser: with the keyboard alone, by two people at once, and for screen readers."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from demur.api.app import create_app
from demur.api_keys import make_key
from demur.engine.scripted import ScriptedEngine
from demur.feedback.database import open_database
from demur.feedback.opening import options_of
from demur.feedback.service import Feedback
from demur.manifest import Manifest
from demur.settings import Settings
from live import serving

pytestmark = pytest.mark.browser

WHOLE = "Two rows of 20 are 40.\nAnswer: 70\nConfidence: 0.62"
HOSTILE = "<img src=x onerror=alert(1)>\u202egnorw\nAnswer: <b>70</b>\nConfidence: 0.62"
STEPS = r"""Solution:
<Confidence value=0.97 text="a small product">2 * 20 = 40</Confidence>
<Confidence value=0.4 text="not checked">40 + 30 = 70</Confidence>
Answer:70"""
SOURCE = {"eggs": WHOLE, "hens": HOSTILE, "geese": STEPS}


@pytest.fixture
def graded(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """graded(*questions, **settings): the address of a server that was asked them."""
    with ExitStack() as stack:

        def start(*questions: str, key: str | None = None, **fields: Any) -> str:
            manifest = Manifest.model_validate({"name": "demur-test", "contracts": ["response", "claims"]})
            settings = Settings(audit_share=1.0, planned_audits=20, **fields)
            database = open_database(str(tmp_path / "feedback.db"))
            feedback = Feedback(database, options_of(settings), manifest, "0123456789ab", rng=Random(1))
            stack.callback(feedback.close)
            url = stack.enter_context(
                serving(create_app(ScriptedEngine(SOURCE), manifest, settings, feedback=feedback))
            )
            headers = {} if key is None else {"authorization": f"Bearer {key}"}
            for question in questions:
                contract = "claims" if "geese" in question else "response"
                body = {"question": question, "contract": contract}
                assert httpx.post(f"{url}/v1/answers", json=body, headers=headers).status_code == 200
            feedback.flush()
            return url

        yield start


@pytest.fixture
def page(browse) -> Callable[..., Any]:
    """page(url): the grading page of a server that runs."""

    def open_page(url: str, **options: Any) -> Any:
        visited = browse(f"{url}/grade", wait=False, **options)
        visited.url = url
        return visited

    return open_page


def serious(page: Any) -> list[str]:
    """What axe finds, as "rule: element"."""
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text())
    found = page.evaluate("async () => (await axe.run()).violations")
    return [f"{problem['id']}: {node['target']}" for problem in found for node in problem["nodes"]]


def shown(visited: Any, text: str) -> None:
    visited.find(f"#messages:visible >> text={text}").wait_for()


def far(visited: Any, text: str) -> None:
    visited.find(f"#far:has-text('{text}')").wait_for()


def summary(url: str, **options: Any) -> dict[str, Any]:
    return httpx.get(f"{url}/v1/feedback/summary", **options).json()


def test_everything_is_graded_with_single_keys(graded, page) -> None:
    url = graded(*(f"How many eggs, {i}?" for i in range(4)))
    visited = page(url)
    press = visited.page.keyboard.press
    far(visited, "graded 0 of 20")
    for count, key in enumerate("100", start=1):
        shown(visited, "How many eggs")
        press(key)
        far(visited, f"graded {count} of 20")
    press("u")
    far(visited, "graded 2 of 20")
    press("1")
    far(visited, "graded 3 of 20")
    press("Shift+S")
    visited.find("text=Nothing is left to grade").wait_for()
    found = summary(url)
    assert (found["audit"]["graded"], found["audit"]["skipped"], found["audit"]["open"]) == (3, 1, 0)
    assert found["graders"][0]["right"] == pytest.approx(2 / 3)


def test_steps_are_graded_one_by_one(graded, page) -> None:
    url = graded("How many geese?")
    visited = page(url)
    press = visited.page.keyboard.press
    shown(visited, "How many geese?")
    press("j")
    press("1")
    visited.find("#claims li:nth-child(1) >> text=right").wait_for()
    press("0")
    visited.find("#claims li:nth-child(2) >> text=wrong").wait_for()
    press("u")
    visited.find("#claims li:nth-child(2) .said:empty").wait_for(state="attached")
    press("0")
    visited.find("#claims li:nth-child(2) >> text=wrong").wait_for()
    press("1")
    visited.find("text=Nothing is left to grade").wait_for()
    assert summary(url)["audit"]["graded"] == 1


def test_two_people_never_grade_the_same_item(graded, page) -> None:
    url = graded(*(f"How many eggs, {i}?" for i in range(2)))
    first, second = page(url), page(url)
    for visited in (first, second):
        shown(visited, "How many eggs")
    assert first.find("#messages").text_content() != second.find("#messages").text_content()
    first.page.keyboard.press("s")
    first.page.keyboard.press("s")
    shown(first, "How many eggs")
    assert first.find("#messages").text_content() != second.find("#messages").text_content()


def test_what_a_model_wrote_stays_text_and_shows_what_nobody_sees(graded, page) -> None:
    visited = page(graded("How many hens?"))
    shown(visited, "How many hens?")
    assert "<img src=x" in visited.find("#text").text_content()
    assert visited.find("#text .invisible").text_content() == "U+202E"
    assert visited.find("#item img").count() == 0


def test_no_confidence_and_no_promise_is_shown(graded, page) -> None:
    visited = page(graded("How many eggs?"))
    shown(visited, "How many eggs?")
    told = visited.find("body").inner_text()
    assert "0.62" not in told
    assert "62" not in told


def test_a_key_is_asked_for(graded, page) -> None:
    plain, grader = make_key("plain"), make_key("grader", grade=True)
    keys = '{"keys": [' + ",".join(key.model_dump_json() for key, _ in (plain, grader)) + "]}"
    visited = page(graded("How many eggs?", keys=keys, key=grader[1]))
    for key, title in ((plain[1], "A key is needed"), (grader[1], "This key may not grade")):
        visited.find(f"#notice h2:has-text('{title}')").wait_for()
        visited.find("#key").fill(key)
        visited.find("#notice button").click()
    shown(visited, "How many eggs?")


def test_a_server_that_keeps_nothing_says_so(serve, page) -> None:
    url, _ = serve(SOURCE)
    visited = page(url)
    visited.find("text=Nothing is kept here").wait_for()
    assert "--feedback" in visited.find("#notice").text_content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("question", ["How many eggs?", "How many geese?", None])
def test_axe_finds_nothing(graded, page, scheme, question) -> None:
    visited = page(graded(*([question] if question else [])), context={"color_scheme": scheme})
    shown(visited, question) if question else visited.find("text=Nothing is left to grade").wait_for()
    assert serious(visited.page) == []


def test_nothing_is_wider_than_a_phone(graded, page) -> None:
    visited = page(graded("How many geese?"), context={"viewport": {"width": 320, "height": 700}})
    shown(visited, "How many geese?")
    assert visited.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
