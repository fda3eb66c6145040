"""Verdicts over HTTP: who may give them, what becomes of them, what is kept."""

import json

import pytest

from demur.api_keys import make_key

SURE = "Two rows of 20 are 40.\nAnswer: 70\nConfidence: 0.9"


def test_a_server_that_keeps_nothing_says_how_to_make_it_keep(keep) -> None:
    from fastapi.testclient import TestClient

    from demur.api.app import create_app
    from demur.engine.scripted import ScriptedEngine
    from demur.settings import Settings
    from feedback.conftest import MANIFEST

    client = TestClient(create_app(ScriptedEngine(), MANIFEST, Settings()))
    for method, path, body in (
        ("POST", "/v1/feedback", {"answer_id": "ans_" + "0" * 26, "correct": True}),
        ("GET", "/v1/feedback/queue", None),
        ("GET", "/v1/feedback/summary", None),
    ):
        reply = client.request(method, path, json=body)
        assert reply.status_code == 404
        assert "--feedback" in reply.json()["error"]["message"]


def test_a_volunteered_verdict_is_kept_once_and_corrections_are_history(keep) -> None:
    server = keep(SURE, audit_share=0.0)
    answer = server.ask()
    first = server.say(answer["id"], correct=True)
    assert first.status_code == 200, first.text
    assert first.json() | {"at": 0} == {
        "object": "feedback",
        "answer_id": answer["id"],
        "claim": None,
        "sample": None,
        "verdict": "right",
        "source": "volunteered",
        "at": 0,
        "repeated": False,
    }
    assert server.say(answer["id"], correct=True).json()["repeated"] is True
    assert server.say(answer["id"], correct=False).json()["verdict"] == "wrong"
    assert server.say(answer["id"], correct=None).json()["verdict"] == "undone"
    with server.feedback._db.begin() as db:
        from demur.feedback.grades import history

        assert [row["verdict"] for row in history(db, answer["id"])] == ["right", "wrong", "undone"]


def test_an_answer_can_be_graded_the_moment_it_is_given(keep) -> None:
    server = keep(SURE)
    for _ in range(20):
        assert server.say(server.ask()["id"], correct=True).status_code == 200


@pytest.mark.parametrize(
    ("fields", "status", "param"),
    [
        ({"correct": True, "claim": 0}, 400, "claim"),
        ({"correct": True, "sample": 1}, 400, "sample"),
        ({"correct": True, "sample": 0, "claim": 0}, 400, "sample"),
        ({"skip": "later"}, 400, "lease"),
        ({"correct": None}, 400, "correct"),
        ({"correct": True, "gold": "70"}, 400, None),
        ({}, 400, None),
        ({"skip": None}, 400, None),
        ({"correct": True, "lease": "lea_other"}, 409, "lease"),
        ({"correct": "yes"}, 400, "correct"),
        ({"correct": True, "grade": 1}, 400, "grade"),
    ],
)
def test_what_cannot_be_kept_is_told_by_field(keep, fields, status, param) -> None:
    server = keep(SURE)
    reply = server.say(server.ask()["id"], **fields)
    assert (reply.status_code, reply.json()["error"]["param"]) == (status, param), reply.text


def test_an_unknown_answer_is_a_404(keep) -> None:
    server = keep(SURE)
    assert server.say("ans_" + "0" * 26, correct=True).status_code == 404
    assert server.call("DELETE", "/v1/feedback/ans_" + "0" * 26).status_code == 404


def test_one_bad_verdict_of_a_batch_costs_no_other(keep) -> None:
    server = keep(SURE)
    good = [server.ask()["id"] for _ in range(3)]
    items = [{"answer_id": each, "correct": True} for each in (good[0], "ans_" + "0" * 26, *good[1:])]
    reply = server.call("POST", "/v1/feedback/batch", json={"items": items}).json()
    assert [item.get("verdict", item.get("type")) for item in reply["items"]] == [
        "right",
        "not_found",
        "right",
        "right",
    ]


def test_rights_are_those_of_the_key(keep, tmp_path) -> None:
    keys = {
        name: make_key(name, **rights)
        for name, rights in {
            "plain": {},
            "other": {},
            "grader": {"grade": True},
            "owner": {"calibrate": True},
        }.items()
    }
    text = json.dumps({"keys": [key.model_dump() for key, _ in keys.values()]})
    server = keep(SURE, keys=text)
    plain, other, grader, owner = (server.by(keys[name][1]) for name in ("plain", "other", "grader", "owner"))
    answer = plain.ask()
    assert server.say(answer["id"], correct=True).status_code == 401
    assert other.say(answer["id"], correct=True).status_code == 404
    assert plain.say(answer["id"], correct=True).json()["source"] == "volunteered"
    for denied in (plain, owner):
        assert denied.call("GET", "/v1/feedback/queue").status_code == 403
    for denied in (plain, grader):
        assert denied.call("POST", "/v1/feedback/refits", json={}).status_code == 403
        assert denied.call("DELETE", f"/v1/feedback/{answer['id']}").status_code == 403
    assert plain.call("GET", "/v1/feedback/summary").status_code == 403
    assert grader.summary()["graders"] is None
    (item,) = grader.take()
    assert plain.say(answer["id"], correct=True, lease=item["lease"]).status_code == 409
    assert grader.say(answer["id"], correct=False, lease=item["lease"]).json()["source"] == "audit"
    assert {row["grader"] for row in owner.summary()["graders"]} == {keys["plain"][0].id, keys["grader"][0].id}
    assert owner.call("POST", "/v1/feedback/refits", json={}).json()["audits"] == 1
    assert owner.call("DELETE", f"/v1/feedback/{answer['id']}").status_code == 200
    assert owner.summary()["audit"]["graded"] == 0


def test_a_server_that_others_can_reach_lets_nobody_grade_without_a_key(keep) -> None:
    server = keep(SURE, host="0.0.0.0", allow_anonymous=True)
    answer = server.ask()
    assert server.call("GET", "/v1/feedback/queue").status_code == 403
    assert server.say(answer["id"], correct=True).json()["source"] == "volunteered"


def test_a_known_answer_is_compared_here(keep) -> None:
    server = keep(SURE)
    right, wrong = server.ask()["id"], server.ask()["id"]
    assert server.say(right, gold="70.0").json() | {"at": 0, "answer_id": ""} == {
        "object": "feedback",
        "answer_id": "",
        "claim": None,
        "sample": None,
        "verdict": "right",
        "source": "gold",
        "at": 0,
        "repeated": False,
    }
    assert server.say(wrong, gold="71").json()["verdict"] == "wrong"
    golds = {item["answer_id"]: item["gold"] for item in server.take(limit=5)}
    assert golds == {right: "70.0", wrong: "71"}


def test_withheld_answers_are_audited_whole(keep) -> None:
    server = keep(SURE)
    answer = server.ask(risk_threshold=0.95)
    assert answer["decision"] == "abstain"
    (item,) = server.take()
    assert (item["answer"], item["decision"]) == ("70", "abstain")
    assert item["messages"] == [{"role": "user", "content": "How many eggs?"}]
    assert "Two rows" in item["text"]
    assert "confidence" not in item


@pytest.mark.parametrize(
    ("store", "audited", "other"), [("none", False, False), ("audited", True, False), ("all", True, True)]
)
def test_texts_are_kept_as_the_operator_wants(keep, store, audited, other) -> None:
    for share, kept in ((1.0, audited), (0.0, other)):
        server = keep(SURE, store_text=store, audit_share=share)
        answer = server.ask("A secret question?")
        server.feedback.flush()
        with server.feedback._db.begin() as db:
            from demur.feedback.stored_answers import read

            row = read(db, answer["id"])
        assert (row["messages"] is not None, row["text"] is not None) == (kept, kept)
        assert ("secret" in str(row)) == kept


def test_every_choice_of_a_chat_completion_is_kept(keep) -> None:
    server = keep(SURE)
    messages = [{"role": "user", "content": "How many eggs?"}]
    reply = server.call("POST", "/v1/chat/completions", json={"messages": messages, "n": 3})
    ids = {choice["message"].get("demur", choice.get("demur"))["id"] for choice in reply.json()["choices"]}
    assert {item["answer_id"] for item in server.take(limit=9)} == ids
    assert len(ids) == 3


def test_a_streamed_answer_is_kept(keep) -> None:
    server = keep(SURE)
    assert server.call("POST", "/v1/answers", json={"question": "How many eggs?", "stream": True}).status_code == 200
    assert len(server.take(limit=9)) == 1
