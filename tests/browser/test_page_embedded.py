"""The page on the embedded model, served by the command that the README names."""

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.vllm, pytest.mark.timeout(600)]
PATIENCE = 180_000
"""Milliseconds for one answer of a real model on a slow CPU."""


@pytest.fixture(scope="module")
def address(embedded_model) -> Iterator[str]:  # made before, which takes longer than anything waits for a line
    command = [sys.executable, "-m", "demur", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://\S+", line)
            assert found, line
            yield found[0]
        finally:
            process.terminate()
            process.wait(60)


@pytest.mark.parametrize("contract", ["response", "claims"])
def test_a_real_answer_follows_the_slider(browse, address, contract) -> None:
    page = browse(address)
    page.page.set_default_timeout(PATIENCE)
    if page.find(f"input[value={contract}]").count() == 0:
        assert contract == "claims", "every model has the response contract"
        return
    verdict = page.answer("What is 2 + 3?", contract=contract, t=0)
    labelled = "Not calibrated" in verdict.inner_text()
    assert labelled is ("not calibrated" in page.find("#model").inner_text())
    before = len(page.asked())
    page.move(1)
    page.move(0)
    assert len(page.asked()) == before
    page.find(".raw summary").click()
    page.find(".raw .code:not(:empty)").wait_for()


def test_the_promise_that_ships_is_offered_and_names_its_questions(browse, address) -> None:
    page = browse(address)
    page.page.set_default_timeout(PATIENCE)
    page.find("#max-error").select_option(label="at most 30% wrong")
    assert page.answer("What is 2 + 3?").is_visible()
    asked = page.asked()[-1].post_data_json
    assert (asked["max_error"], "risk_threshold" in asked) == (0.3, False)
    promise = page.find(".guarantee").inner_text()
    assert promise.startswith("At most 30% of the answers given so are wrong, 9 times in 10")
    assert "sums, equations and short stories with numbers" in promise
