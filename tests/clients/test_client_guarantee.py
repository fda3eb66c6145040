"""`max_error` through the client and the command line: what is promised, in words, and what is not."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from demur.api.app import create_app
from demur.calibration.store import CalibratorStore
from demur.cli import main
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings
from demur_client import Client, GuaranteeUnavailableError
from demur_client.decoding import Fields, answer
from live import serving
from served_calibrators import file

SCRIPT = {"sure": "Two.\nAnswer: 2\nConfidence: 0.9", "doubtful": "Two.\nAnswer: 2\nConfidence: 0.5"}
MANIFEST = Manifest(name="demur-test", contracts=("response",))


@pytest.fixture
def url(tmp_path: Path):
    def app(*files: Path) -> Any:
        store = CalibratorStore(files, "files:one")
        options = Settings(force_contract="never")
        return create_app(ScriptedEngine(SCRIPT), MANIFEST, options, calibrators=store, fingerprint="files:one")

    with serving(app()) as plain:
        body = {"question": "sure", "include_conditions": True}
        conditions = httpx.post(f"{plain}/v1/answers", json=body).json()["conditions"]
    with serving(app(file(tmp_path / "calibrator.json", conditions))) as address:
        yield address


def test_an_answer_carries_its_guarantee_and_loses_it_with_its_threshold(url) -> None:
    with Client(base_url=url) as client:
        found = client.answer("sure", max_error=0.15)
    held = found.guarantee
    assert found
    assert held is not None
    assert (held.max_error, held.threshold, held.exact, held.calibration.rows) == (0.1, 0.5, True, 300)
    assert found.calibrated
    assert "At most 10% of the answers given so are wrong, 9 times in 10, for questions like its 300" in str(found)
    assert "sums about eggs" in str(found)
    assert found.at(0.5) == found
    moved = found.at(0.4)
    assert moved.guarantee is None
    assert "9 times in 10" not in str(moved)
    assert "guarantee" not in moved.to_dict()
    assert answer(Fields(found.to_dict())) == found


def test_what_cannot_be_promised_says_what_could(url) -> None:
    with Client(base_url=url) as client, pytest.raises(GuaranteeUnavailableError) as refused:
        client.answer("sure", max_error=0.01)
    assert refused.value.smallest_max_error == 0.1
    assert refused.value.status == 409


def test_an_approximate_promise_is_never_worded_as_one(url) -> None:
    with Client(base_url=url) as client:
        reply = client.answer("sure", max_error=0.2).to_dict()
    reply["guarantee"]["exact"] = False
    text = str(answer(Fields(reply)))
    assert "times in" not in text
    assert "approximate, no promise" in text


def test_a_notice_is_shown(url) -> None:
    with Client(base_url=url) as client:
        found = client.answer("sure", temperature=0.5)
    assert found.notice is not None
    assert "temperature 0.5 instead of 1" in str(found)


def test_the_command_line_asks_for_an_error_rate(url, tmp_path) -> None:
    def ask(*arguments: str) -> Any:
        return CliRunner().invoke(main, ["ask", *arguments, "--base-url", url])

    given = ask("sure", "--max-error", "0.1")
    assert given.exit_code == 0, given.output
    assert "At most 10% of the answers given so are wrong, 9 times in 10" in given.output
    withheld = ask("doubtful", "--max-error", "0.1")
    assert withheld.exit_code == 3
    assert "50% keeps errors within 10%" in withheld.output
    refused = ask("sure", "--max-error", "0.05")
    assert refused.exit_code == 1
    assert "ask for 0.1 or more" in refused.output
    both = ask("sure", "--max-error", "0.1", "-t", "0.5")
    assert both.exit_code == 1
    assert "not both" in both.output


def test_a_file_of_questions_is_gone_on_with_under_the_same_error_rate_alone(url, tmp_path) -> None:
    questions, out = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    questions.write_text("".join(json.dumps({"question": q}) + "\n" for q in SCRIPT))

    def ask(*arguments: str) -> Any:
        return CliRunner().invoke(
            main, ["ask", "--file", str(questions), "--out", str(out), "--base-url", url, *arguments]
        )

    assert ask("--max-error", "0.15").exit_code == 0
    assert ask("--max-error", "0.15").exit_code == 0
    for other in (("--max-error", "0.05"), ()):
        assert "choose another --out" in ask(*other).output
