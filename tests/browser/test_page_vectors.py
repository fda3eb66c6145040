"""The page's modules against the wire vectors, in the browser that runs them."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from demur.api import web
from live import serving

pytestmark = pytest.mark.browser
VECTORS = Path(__file__).parents[1] / "vectors"


def vectors(folder: str) -> list[Any]:
    files = sorted((VECTORS / folder).glob("*.json"))
    return [pytest.param(json.loads(file.read_text()), id=file.stem) for file in files]


@pytest.fixture(scope="module")
def modules(browser) -> Any:
    """A page that nothing but the page's own files were loaded into."""
    app, folder = FastAPI(), web.web_folder()
    assert folder is not None
    web.add_page(app, folder)
    with serving(app) as url:
        page = browser.new_page()
        page.goto(f"{url}/icon.svg")
        yield page
        page.close()


@pytest.mark.parametrize("vector", vectors("decisions"))
def test_moving_the_threshold(modules, vector) -> None:
    for case in vector["cases"]:
        found = modules.evaluate(
            "async ([reply, t]) => (await import('/js/decide.js')).redecide(reply, t)",
            [vector["reply"], case["risk_threshold"]],
        )
        expected = {"refused": case["refused"]} if "refused" in case else case
        assert {name: found.get(name) for name in expected} == expected


@pytest.mark.parametrize("vector", vectors("events"))
def test_folding_events(modules, vector) -> None:
    folded = vector.get("folded", {"text": "", "claims": []})
    found = modules.evaluate(
        """async (events) => {
          const { Folded } = await import('/js/fold.js');
          const folded = new Folded();
          for (const { event, data } of events) folded.take(event, data);
          return { text: folded.text, claims: folded.claims, pieces: folded.segments };
        }""",
        [event for event in vector["events"] if event["event"] not in ("answer", "error")],
    )
    assert {"text": found["text"], "claims": found["claims"]} == folded
    assert [piece["text"] for piece in found["pieces"] if piece["claim"]] == [
        claim["text"] for claim in found["claims"]
    ]


@pytest.mark.parametrize("vector", vectors("sse"))
def test_reading_server_sent_events(modules, vector) -> None:
    found = modules.evaluate(
        """async (chunks) => {
          const { Decoder } = await import('/js/sse.js');
          const decoder = new Decoder();
          const bytes = chunks.map((chunk) => new TextEncoder().encode(chunk));
          return bytes.flatMap((piece) => decoder.feed(piece));
        }""",
        vector["chunks"],
    )
    assert found == vector["events"]


@pytest.mark.parametrize("vector", vectors("replies"))
def test_spans_cut_the_text_into_its_claims(modules, vector) -> None:
    reply = vector["reply"]
    content = reply if reply["text"] is not None else reply["withheld"]
    if content is None or not content["claims"]:
        return
    pieces = modules.evaluate(
        "async ([text, claims]) => (await import('/js/spans.js')).segments(text, claims)",
        [content["text"], content["claims"]],
    )
    assert "".join(piece["text"] for piece in pieces) == content["text"]
    assert [piece["text"] for piece in pieces if piece["claim"]] == [claim["text"] for claim in content["claims"]]


def test_events_of_any_split_are_the_same(modules) -> None:
    """Every split of the bytes in two, also within a character and between CR and LF."""
    stream = 'event: delta\r\ndata: {"text": "ä🥚"}\r\n\r\n: pause\n\nevent: claim\ndata: 1\ndata: 2\n\n'
    found = modules.evaluate(
        """async (text) => {
          const { Decoder } = await import('/js/sse.js');
          const bytes = new TextEncoder().encode(text);
          return Array.from(bytes, (_, at) => {
            const decoder = new Decoder();
            return JSON.stringify([...decoder.feed(bytes.slice(0, at)), ...decoder.feed(bytes.slice(at))]);
          });
        }""",
        stream,
    )
    assert set(found) == {'[{"event":"delta","data":"{\\"text\\": \\"ä🥚\\"}"},{"event":"claim","data":"1\\n2"}]'}
