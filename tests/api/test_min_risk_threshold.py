"""The least risk threshold of a key, or of everybody: no request shows what lies below it."""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from demur.api_keys import ApiKeyStore, KeyFile, KeysError, make_key
from demur.engine.scripted import ScriptedEngine
from demur.engine.scripted_critic import ScriptedCritic
from demur.settings import Settings

PATHS = ["/v1/answers", "/v1/chat/completions"]
SECRET = "canary"
RESPONSE = f"{SECRET} reasons.\nAnswer: {SECRET}\nConfidence: 0.4"
CLAIMS = (
    f'{SECRET}\nSolution:\n<Confidence value=0.95 text="{SECRET}">{SECRET} one</Confidence>\n'
    f'<Confidence value=0.4 text="{SECRET}">{SECRET} two</Confidence>\nAnswer:{SECRET}'
)
BOTH = {"r": RESPONSE, "c": CLAIMS}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def add(file: Path, **limits: Any) -> dict[str, str]:
    key, text = make_key("someone", **limits)
    KeyFile(file).change(lambda keys: (*keys, key))
    return {"authorization": f"Bearer {text}"}


def ask(server: Any, shown: dict[str, str], path: str = PATHS[0], question: str = "r", **fields: Any) -> Any:
    body = {"question": question} if path == PATHS[0] else {"messages": [{"role": "user", "content": question}]}
    return server.call("POST", path, json=body | fields, headers=shown)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("contract", ["response", "claims", "explicit_risk"])
@pytest.mark.parametrize("t", [0, 0.5, 0.79])
def test_a_lower_threshold_is_refused_and_the_least_is_named(make, file, path, stream, contract, t) -> None:
    shown = add(file, min_risk_threshold=0.8)
    server = make(ScriptedEngine(BOTH), keys_file=file)
    reply = ask(server, shown, path, contract=contract, risk_threshold=t, stream=stream)
    error = reply.json()["error"]
    assert (reply.status_code, error["code"], error["param"]) == (403, "permission_denied", "risk_threshold")
    assert "0.8" in error["message"]
    assert not server.engine.drawn


@pytest.mark.parametrize(
    ("least", "default", "used"), [(0.8, 0.5, 0.8), (0.8, 0.9, 0.9), (0.0, 0.5, 0.5), (1.0, 0.0, 1.0)]
)
def test_a_threshold_left_out_is_the_larger_of_the_two(make, file, least, default, used) -> None:
    shown = add(file, min_risk_threshold=least)
    server = make(ScriptedEngine(BOTH), keys_file=file, risk_threshold=default)
    assert ask(server, shown).json()["risk_threshold"] == used
    assert ask(server, shown, PATHS[1]).json()["choices"][0]["demur"]["risk_threshold"] == used
    card = server.call("GET", "/v1/models", headers=shown).json()["data"][0]["demur"]
    assert (card["risk_threshold"], card["min_risk_threshold"]) == (used, least)


@pytest.mark.parametrize(("of_key", "of_all", "least"), [(0.8, 0.3, 0.8), (0.3, 0.8, 0.8), (0.0, 0.8, 0.8)])
def test_the_higher_of_the_keys_and_the_operators_holds(make, file, of_key, of_all, least) -> None:
    shown = add(file, min_risk_threshold=of_key)
    server = make(ScriptedEngine(BOTH), keys_file=file, min_risk_threshold=of_all)
    assert ask(server, shown, risk_threshold=least).status_code == 200
    assert ask(server, shown, risk_threshold=least - 0.01).status_code == 403


def test_it_holds_without_keys_too(make) -> None:
    """On a loopback address, where withheld text may otherwise be seen."""
    server = make(ScriptedEngine(BOTH), min_risk_threshold=0.8)
    assert server.ask("r", risk_threshold=0.5).status_code == 403
    assert server.ask("r", include_withheld=True).json()["error"]["param"] == "include_withheld"
    assert server.ask("r").json()["risk_threshold"] == 0.8
    assert make(min_risk_threshold=0.8, allow_withheld=True).ask(include_withheld=True).status_code == 200


@pytest.mark.parametrize(
    ("fields", "param"),
    [({"granularity": "claims"}, "granularity"), ({"contract": "explicit_risk"}, "contract")],
)
def test_what_shows_text_below_any_threshold_is_for_those_who_may_see_it(make, file, fields, param) -> None:
    """Granularity claims shows doubtful claims, marked; under explicit_risk only the prompt knows the threshold."""
    bounded, trusted, free = (
        add(file, min_risk_threshold=0.8),
        add(file, min_risk_threshold=0.8, withheld=True),
        add(file),
    )
    server = make(ScriptedEngine(BOTH), keys_file=file)
    asked = {"contract": "claims", "question": "c", "risk_threshold": 0.9} | fields
    reply = ask(server, bounded, **asked)
    assert (reply.status_code, reply.json()["error"]["param"]) == (403, param)
    assert "0.8" in reply.json()["error"]["message"]
    assert [ask(server, shown, **asked).status_code for shown in (trusted, free)] == [200, 200]


def test_claims_are_decided_on_as_a_whole_where_nothing_is_said(make, file) -> None:
    bounded, free = add(file, min_risk_threshold=0.8), add(file)
    server = make(ScriptedEngine(BOTH), keys_file=file)
    assert ask(server, bounded, question="c", contract="claims").json()["granularity"] == "response"
    assert ask(server, free, question="c", contract="claims").json()["granularity"] == "claims"


ASKED = [
    {"question": question, "contract": contract, "confidence_source": source, "samples": samples, "stream": stream}
    for (question, contract), source, samples, stream in product(
        (("r", "response"), ("c", "claims")), ("verbalized", "critic"), (1, 3), (False, True)
    )
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("fields", ASKED, ids=lambda fields: "-".join(map(str, fields.values())))
def test_nothing_of_an_answer_below_it_is_seen(make, file, path, fields) -> None:
    """Nor by the raw output, by the values of its tokens, by the groups of a vote or by events."""
    shown = add(file, min_risk_threshold=0.8)
    critic = ScriptedCritic({}, start=0.5)
    server = make(ScriptedEngine(BOTH), keys_file=file, manifest={"critic": {"path": "critic"}}, critic=critic)
    more = {"include_raw": True, "include_token_values": fields["samples"] == 1, "selection": "maxconf"}
    reply = ask(server, shown, path, **fields, **more)
    assert reply.status_code == 200
    assert '"abstain"' in reply.text
    assert SECRET not in reply.text
    assert ask(server, shown, path, **fields, **more, include_withheld=True).status_code == 403


@pytest.mark.parametrize("value", ["0.8", True, -0.1, 1.1, float("nan"), None])
def test_only_a_probability_is_one(value) -> None:
    with pytest.raises(ValidationError):
        make_key("x", min_risk_threshold=value)
    text = json.dumps({"keys": [make_key("x")[0].model_dump() | {"min_risk_threshold": value}]})
    with pytest.raises(KeysError, match=r"min_risk_threshold|JSON"):
        ApiKeyStore(text=text)
    if not isinstance(value, str | bool):
        with pytest.raises(ValidationError):
            Settings.model_validate({"min_risk_threshold": value})


def test_the_command_makes_and_lists_it(file, capsys) -> None:
    from demur.api_keys.cli import app

    def command(*arguments: str) -> int:
        with pytest.raises(SystemExit) as ended:
            app([*arguments, "--file", str(file)])
        return int(ended.value.code or 0)

    assert command("create", "team a", "--min-risk-threshold", "0.8") == 0
    text = capsys.readouterr().out.strip()
    found = ApiKeyStore(file).find(text)
    assert found is not None
    assert found.min_risk_threshold == 0.8
    assert command("list") == 0
    assert re.search(r"team a  min_risk_threshold=0\.8\n", capsys.readouterr().out)
    assert command("create", "team b", "--min-risk-threshold", "1.5") == 2
    assert len(KeyFile(file).read()) == 1
