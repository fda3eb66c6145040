"""What a manifest tells newcomers: served, checked when it is read, and measured by `python -m bench examples`."""

import hashlib
import json
from typing import Any

import pytest
from bench import examples as bench

from demur.manifest import Manifest, ManifestError
from demur.measured import Example

SUM: dict[str, Any] = {"question": "What is 6 + 7?", "contract": "response", "risk_threshold": 0.8, "shows": "answer"}


def test_what_the_manifest_tells_is_served(make) -> None:
    measured = {"on": "sums", "date": "2026-11-20", "answers": 10, "thresholds": [], "reliability": []}
    server = make(manifest={"name": "m", "examples": [SUM], "measured": {"response": measured}})
    card = server.call("GET", "/v1/models/m").json()["demur"]
    assert card["examples"][0]["question"] == "What is 6 + 7?"
    assert card["measured"]["response"]["answers"] == 10


@pytest.mark.parametrize(
    "wrong",
    [
        {"contract": "no such"},
        {"risk_threshold": 2.0},
        {"shows": "joy"},
        {"question": "two\nlines"},
        {"question": ""},
        {"colour": "red"},
    ],
)
def test_a_wrong_example_names_its_field(tmp_path, wrong) -> None:
    (tmp_path / "demur.json").write_text(json.dumps({"name": "m", "examples": [SUM | wrong]}))
    with pytest.raises(ManifestError, match=rf"examples.*{next(iter(wrong))}"):
        Manifest.load(tmp_path)


def reply(decision: str, answer: str | None, *claims: str) -> dict[str, Any]:
    return {"decision": decision, "answer": answer, "claims": [{"decision": one} for one in claims] or None}


@pytest.mark.parametrize(
    ("shows", "answer", "got", "expected"),
    [
        ("answer", "13", reply("answer", "13.0"), True),
        ("answer", "13", reply("answer", "14"), False),
        ("answer", None, reply("answer", "14"), True),
        ("answer", None, reply("answer", "14", "assert", "highlight"), False),
        ("doubt", None, reply("answer", "14", "assert", "highlight"), True),
        ("doubt", None, reply("answer", "14", "assert"), False),
        ("abstain", None, reply("abstain", None), True),
        ("abstain", None, reply("answer", "1"), False),
    ],
)
def test_whether_a_reply_shows_what_it_is_there_for(shows, answer, got, expected) -> None:
    assert bench.shows(Example.model_validate(SUM | {"shows": shows, "answer": answer}), got) is expected


def test_curve_and_reliability_of_rows() -> None:
    confidence = [0.95, 0.95, 0.55, 0.15, None]
    found = bench.measured_from(confidence, [True, False, True, False, False], range(5), "sums")
    at = {round(point.risk_threshold, 2): (point.answered, point.right) for point in found.thresholds}
    assert at[0.9] == (0.4, 0.5)
    assert at[0.5] == pytest.approx((0.6, 2 / 3))
    assert [(one.answers, one.right) for one in found.reliability] == [(1, 0.0), (1, 1.0), (2, 0.5)]
    assert found.answers == 5


def test_what_was_measured_is_written_with_its_hash(tmp_path) -> None:
    Manifest(name="m").write(tmp_path)
    (tmp_path / "SHA256SUMS").write_text("0  other\n0  demur.json\n")
    bench.write(tmp_path, [Example.model_validate(SUM)], {})
    digest = hashlib.sha256((tmp_path / "demur.json").read_bytes()).hexdigest()
    assert (tmp_path / "SHA256SUMS").read_text() == f"0  other\n{digest}  demur.json\n"
    assert Manifest.load(tmp_path).examples[0].question == "What is 6 + 7?"


def test_the_pages_files_are_sent_compressed_and_kept(make) -> None:
    server = make()
    small = server.call("GET", "/js/main.js", headers={"accept-encoding": "gzip"})
    assert (small.headers["content-encoding"], small.headers["vary"]) == ("gzip", "accept-encoding")
    plain = server.call("GET", "/js/main.js", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert small.text == plain.text
    again = server.call("GET", "/js/main.js", headers={"if-none-match": small.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    font = server.call("GET", "/vendor/maths.woff2", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in font.headers
