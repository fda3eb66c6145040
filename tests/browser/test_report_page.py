"""The report of an evaluation on a phone and in the dark."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from demur.api.app import create_app
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings
from live import serving

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    questions = folder / "a file of questions with a rather long name.jsonl"
    questions.write_text(
        "".join(json.dumps({"id": f"q{i}", "question": f"{i} + 1?", "answer": str(i + 1)}) + "\n" for i in range(12))
    )
    engine = ScriptedEngine(lambda messages: f"{'word' * 60}\nAnswer: 3\nConfidence: 0.7")
    with serving(create_app(engine, Manifest(name="demur-test"), Settings())) as url:
        command = [
            sys.executable,
            "-m",
            "demur",
            "evaluate",
            str(questions),
            "--base-url",
            url,
            "--out",
            str(folder / "run"),
        ]
        subprocess.run([*command, "--grader", "maths"], check=True, capture_output=True, timeout=180)
    return folder / "run" / "report.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone_and_all_can_be_read(browser, report, scheme) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page.set_content(report.read_text())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text())
    found = page.evaluate("async () => (await axe.run(document, { runOnly: ['color-contrast'] })).violations.length")
    assert found == 0
    page.close()
