"""An error rate in place of a threshold: offered where it is certified, worded as what it is, lost when it is moved."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from demur.api.app import create_app
from demur.calibration.store import CalibratorStore
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings
from live import serving
from served_calibrators import file, level

pytestmark = pytest.mark.browser

FINGERPRINT = "files:one"
SOURCE = {"rows": "Two rows.\nAnswer: 18\nConfidence: 0.9", "hens": "A guess.\nAnswer: 5\nConfidence: 0.2"}
MODEL = Manifest(name="demur-test", calibrated=True, contracts=("response", "claims"))


@pytest.fixture
def calibrated(browse, tmp_path) -> Iterator[Any]:
    """calibrated(**changes): the page of a server with one calibrator for whole answers."""
    with ExitStack() as stack:

        def start(**changes: Any) -> Any:
            bare = stack.enter_context(
                serving(create_app(ScriptedEngine(SOURCE), MODEL, Settings(), fingerprint=FINGERPRINT))
            )
            asked = {"question": "rows", "include_conditions": True}
            conditions = httpx.post(f"{bare}/v1/answers", json=asked).json()["conditions"]
            path: Path = file(tmp_path / "c.json", conditions, **changes)
            store = CalibratorStore((path,), FINGERPRINT)
            app = create_app(ScriptedEngine(SOURCE), MODEL, Settings(), calibrators=store, fingerprint=FINGERPRINT)
            return browse(stack.enter_context(serving(app)))

        yield start


def test_a_server_without_calibrators_offers_no_promise(visit) -> None:
    assert visit(SOURCE).find("#promise").is_hidden()


def test_a_certified_error_rate_is_asked_for_and_kept_until_it_is_moved(calibrated) -> None:
    page = calibrated(guarantees=[level(0.1, 0.5)])
    assert page.find("#promise").is_visible()
    page.find("#max-error").select_option(label="at most 10% wrong")
    assert page.find("#threshold-value").inner_text() == "50%"
    assert "at most 10% of them wrong, 9 times in 10." in page.find("#consequence").inner_text()
    page.answer("How many rows?")
    sent = page.asked()[-1].post_data_json
    assert (sent["max_error"], "risk_threshold" in sent) == (0.1, False)
    assert (
        page.find(".guarantee").inner_text().startswith("At most 10% of the answers given so are wrong, 9 times in 10")
    )
    page.move(0.45)
    assert page.find(".guarantee").is_hidden()
    page.answer("How many rows?")
    assert "max_error" not in page.asked()[-1].post_data_json


def test_reload_brings_the_promise_again_and_an_example_leaves_it(calibrated) -> None:
    page = calibrated(guarantees=[level(0.1, 0.5)])
    page.find("#max-error").select_option(label="at most 10% wrong")
    page.answer("How many rows?")
    page.page.reload()
    page.find(".guarantee:visible").wait_for()
    assert page.find("#threshold-value").inner_text() == "50%"
    assert page.find("#max-error option:checked").inner_text() == "at most 10% wrong"
    page.page.goto(page.page.url.replace("max_error=0.1", "risk_threshold=0.3"))
    page.page.reload()
    page.find("#threshold-value:text-is('30%')").wait_for()
    assert page.find("#max-error option:checked").inner_text() == "no promise"


def test_steps_are_offered_no_promise_of_whole_answers(calibrated) -> None:
    page = calibrated(guarantees=[level(0.1, 0.7)])
    page.find("input[value=claims]").check()
    assert page.find("#promise").is_hidden()


def test_several_samples_are_offered_no_promise_of_single_ones(calibrated) -> None:
    page = calibrated(guarantees=[level(0.1, 0.7)])
    page.find("#options summary").click()
    page.find("input[name=samples]").fill("5")
    page.find("input[name=samples]").press("Tab")
    assert page.find("#promise").is_hidden()
    page.find("input[name=samples]").fill("1")
    page.find("input[name=samples]").press("Tab")
    assert page.find("#promise").is_visible()


def test_a_declined_answer_carries_no_promise_and_the_first_screen_says_what_was_checked(calibrated) -> None:
    page = calibrated(guarantees=[level(0.1, 0.5)], questions="rows and hens")
    assert page.find("#known").inner_text().startswith("Checked on rows and hens.")
    page.find("#max-error").select_option(label="at most 10% wrong")
    page.answer("How many hens?")
    assert page.find("#known").is_visible(), "beside every answer"
    assert page.find(".verdict").get_attribute("data-kind") == "abstain"
    assert page.find(".guarantee").is_hidden()
    page.answer("How many rows?")
    assert page.find(".guarantee").inner_text().endswith("About other questions nothing is promised.")


def test_an_estimate_is_never_worded_as_a_promise(still) -> None:
    guarantee = {
        "max_error": 0.1, "delta": 0.1, "threshold": 0.8, "exact": False, "expected_coverage": 0.4,
        "calibration": {"id": "c", "rows": 300, "made": "2026-11-20T10:00:00Z", "kind": "cross-fit", "questions": None},
    }  # fmt: skip
    words = "async (g) => { const p = await import('/js/promise.js'); return [p.guaranteeWords(g), p.levelWords(g)]; }"
    for said in still.evaluate(words, guarantee):
        assert "no promise" in said
        assert "times in 10" not in said
    exact = still.evaluate(words, guarantee | {"exact": True, "delta": 0.05})
    assert all("with 95% certainty" in said for said in exact)


def test_signals_are_chosen_and_shown(calibrated) -> None:
    page = calibrated(guarantees=[level(0.1, 0.7)])
    page.find("#options summary").click()
    page.find("[name=include_signals]").select_option("verbalized")
    page.answer("How many rows?", contract="response", t=0.1)
    assert "what the model says: 90%" in page.find(".cost").inner_text()
    page.find("[name=confidence_source]").select_option("verbalized")
    page.answer("How many rows?", t=0.1)
    assert page.asked()[-1].post_data_json["confidence_source"] == "verbalized"
