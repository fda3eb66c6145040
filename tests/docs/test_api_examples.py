"""The requests and replies of the documentation are those of the server: asked over HTTP, and validated by its schemas."""

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from pydantic import TypeAdapter

from demur.answering import Answer
from demur.api.chat.schemas import ChatCompletion, ChatRequest
from demur.api.errors import ErrorReply
from demur.api.models import ModelList
from demur.api.openapi import errors as documented_errors
from demur.api.schemas import AnswerRequest
from demur.core.answers import Reason
from documents import ROOT, Exchange, exchanges, fences, name_of, pages

REQUESTS = {"/v1/answers": AnswerRequest, "/v1/chat/completions": ChatRequest}
REPLIES = {"/v1/answers": Answer, "/v1/chat/completions": ChatCompletion, "/v1/models": ModelList}
CHANGING = {"id", "created", "request_id", "prompts", "fingerprint"}
"""Fields that differ from run to run, or with the wording of a prompt."""

EXAMPLES = [
    pytest.param(exchange, id=f"{page.stem}-{i}")
    for page in sorted((ROOT / "docs").glob("api*.md"))
    for i, exchange in enumerate(exchanges(page))
]


@pytest.mark.parametrize("exchange", EXAMPLES)
def test_the_server_replies_as_the_page_says(exchange: Exchange, url: str) -> None:
    method, path = exchange.request.title.split()
    headers = {"content-type": "application/json"}
    response = httpx.request(method, url + path, content=exchange.request.text.encode(), headers=headers)
    assert str(response.status_code) == exchange.reply.title
    if exchange.reply.language == "text":
        assert events(response.text) == events(exchange.reply.text)
    else:
        assert steady(response.json()) == steady(json.loads(exchange.reply.text))


@pytest.mark.parametrize("exchange", EXAMPLES)
def test_the_schemas_take_what_the_page_says(exchange: Exchange) -> None:
    _, path = exchange.request.title.split()
    if path in REQUESTS and exchange.reply.title == "200":
        REQUESTS[path].model_validate_json(exchange.request.text)
    if exchange.reply.language == "json":
        schema = REPLIES[path] if exchange.reply.title == "200" else ErrorReply
        TypeAdapter(schema).validate_json(exchange.reply.text)


def test_every_kind_of_reply_is_shown() -> None:
    shown = [exchange.values[0] for exchange in EXAMPLES]
    titles = {exchange.request.title for exchange in shown}
    assert {"POST /v1/answers", "POST /v1/chat/completions", "GET /v1/models"} == titles
    text = " ".join(exchange.reply.text for exchange in shown)
    assert all(f'"contract": "{contract}"' in text for contract in ("response", "claims", "explicit_risk"))
    assert all(word in text for word in ('"abstain"', '"highlight"', "event: delta", "event: answer", '"groups"'))


def names_in(page: str) -> set[str]:
    """Everything that stands as code in the first column of a page's tables."""
    rows = re.findall(r"^\| (.*?) \|", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([\w/]+)`", row)}


def test_every_field_is_explained() -> None:
    reply = {field.name for field in dataclasses.fields(Answer)} - {"id", "object", "created", "model"}
    asked = {field.alias or name for name, field in AnswerRequest.model_fields.items()}
    assert asked | reply <= names_in("api.md") | names_in("structured.md")


def test_every_event_and_every_status_is_explained() -> None:
    assert {"progress", "delta", "claim", "reset", "sample", "answer", "error"} <= names_in("api-events.md")
    text = (ROOT / "docs" / "api-errors.md").read_text()
    statuses = {status for status in documented_errors() if isinstance(status, int)}
    assert statuses <= {int(status) for status in re.findall(r"\b[45]\d\d\b", text)}


def test_every_reason_is_explained() -> None:
    assert set(get_args(Reason)) <= names_in("concepts.md")


def steady(value: Any) -> Any:
    """Without what differs from run to run."""
    if isinstance(value, dict):
        return {name: None if name in CHANGING else steady(part) for name, part in value.items()}
    return [steady(part) for part in value] if isinstance(value, list) else value


def events(text: str) -> list[tuple[str, Any]]:
    """The events of a stream; those that tell of progress left out, text that comes in pieces joined."""
    found: list[tuple[str, Any]] = []
    for name, data in re.findall(r"^event: (\w+)\ndata: (.*)$", text, re.MULTILINE):
        value = steady(json.loads(data))
        if name == "delta" and found and found[-1][0] == "delta":
            found[-1] = ("delta", {"text": found[-1][1]["text"] + value["text"]})
        elif name != "progress":
            found.append((name, value))
    return found


JSON = [
    pytest.param(block.text, id=f"{page.stem}-{i}")
    for page in sorted((ROOT / "docs").glob("*.md"))
    for i, block in enumerate(fences(page))
    if block.language == "json" and not block.title and '"question"' in block.text
]


@pytest.mark.parametrize("body", JSON)
def test_bodies_inside_explanations_are_taken(body: str) -> None:
    AnswerRequest.model_validate_json(body)


PYTHON = [
    pytest.param(block.text, id=f"{page.stem}-{i}")
    for page in pages()
    if name_of(page).startswith(("docs/", "README"))
    for i, block in enumerate(fences(page))
    if block.language == "python"
]


@pytest.mark.parametrize("program", PYTHON)
def test_programs_run(program: str, url: str, tmp_path: Path) -> None:
    known = os.environ | {"DEMUR_BASE_URL": url}
    script = program.replace("http://127.0.0.1:8000", url)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=known, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_five_programs_show_clients_and_structured_answers() -> None:
    shown = [block for name in ("clients", "structured") for block in fences(ROOT / "docs" / f"{name}.md")]
    assert sum(block.language == "python" for block in shown) >= 5
