"""A judge model as grader: marked, never for audits unless the operator says so, and people get what it cannot tell."""

import json
from collections.abc import Iterator

import pytest
from fastapi import FastAPI, HTTPException, Request
from typer.testing import CliRunner

from demur.cli import main
from demur.feedback.refitting import told
from live import serving

LEARN = {"audit_share": 0.0, "learn_share": 1.0}
HALF_SURE = "Two rows.\nAnswer: {}\nConfidence: 0.5"


def answer(messages) -> str:
    return HALF_SURE.format(messages[-1]["content"].split()[-1])


class JudgeHost:
    """An OpenAI-compatible host whose model calls even answers right, and says of 13 that it cannot tell."""

    def __init__(self) -> None:
        self.told: list[dict] = []
        self.status = 200

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.post("/v1/chat/completions")
        async def complete(request: Request) -> dict:
            told = json.loads((await request.json())["messages"][-1]["content"])
            if self.status != 200:
                raise HTTPException(self.status, "no such key")
            self.told.append(told)
            return {"choices": [{"message": {"role": "assistant", "content": self.say(told)}}]}

        return app

    def say(self, told: dict) -> str:
        if "steps" in told:
            return json.dumps({"steps": [{"step": one["step"], "correct": one["step"] != 2} for one in told["steps"]]})
        said = told.get("answer", told.get("candidate"))
        if said == "13":
            return "I cannot tell."
        return "Let me see.\nCORRECT" if int(said) % 2 == 0 else "INCORRECT"


@pytest.fixture
def host() -> Iterator[tuple[JudgeHost, str]]:
    judge = JudgeHost()
    with serving(judge.app()) as url:
        yield judge, url + "/v1"


def judge(server, url: str, *words: str):
    with serving(server.app) as address:
        asked = ["grade", "--base-url", address, "--judge-model", "j", "--judge-base-url", url, *words]
        return CliRunner().invoke(main, asked, env={"DEMUR_JUDGE_API_KEY": "secret"})


def test_what_is_learned_from_is_graded_and_marked(keep, host) -> None:
    server = keep(answer, **LEARN)
    for number in (2, 3, 4, 13):
        server.ask(f"Say {number}")
    done = judge(server, host[1])
    assert done.exit_code == 0, done.output
    assert done.stdout == "3 graded\n"
    assert "no verdict on 1, the last: no grade: 'I cannot tell.'" in done.stderr
    summary = server.summary()
    assert (summary["learn"]["graded"], summary["learn"]["open"], summary["judge"]) == (3, 1, 3)
    taken = server.call("POST", "/v1/feedback/refits", json={}).json()
    assert sorted((each["correct"], each["queue"], each["judged"]) for each in taken["rows"]) == [
        (False, "learn", True),
        (True, "learn", True),
        (True, "learn", True),
    ]
    assert "a judge graded 3 of those to learn from" in told(taken)
    assert {"role": "user", "content": "Say 2"} in [one["conversation"][-1] for one in host[0].told]
    assert "0.5" not in json.dumps(host[0].told)
    (left,) = server.take("learn")
    assert left["answer"] == "13"


def test_audits_are_for_people_unless_the_operator_says_otherwise(keep, host, tmp_path) -> None:
    server = keep(answer)
    server.ask("Say 2")
    refused = judge(server, host[1], "--queue", "audit")
    assert refused.exit_code == 1, refused.output
    assert "DEMUR_JUDGE_AUDITS" in refused.output
    assert (server.summary()["audit"]["graded"], server.summary()["drift"]) == (0, [])
    assert len(server.take()) == 1  # it was given back
    willing = keep(answer, url=str(tmp_path / "second.db"), judge_audits=True)
    willing.ask("Say 3")
    assert judge(willing, host[1], "--queue", "audit").output == "1 graded\n"
    assert willing.summary()["drift"][0]["wrong"] == 1
    assert "1 of the audits" in told(willing.call("POST", "/v1/feedback/refits", json={}).json())


def test_what_a_judge_graded_can_be_left_out(keep, host) -> None:
    server = keep(answer, **LEARN)
    given = [server.ask(f"Say {number}")["id"] for number in (2, 3, 13)]
    judge(server, host[1])
    (left,) = server.take("learn")
    server.say(left["answer_id"], lease=left["lease"], correct=True)
    rows, people = (taken(server, **asked) for asked in ({}, {"judge": False}))
    assert {row["answer_id"]: row["judged"] for row in rows} == dict(zip(given, (True, True, False), strict=True))
    assert [row["answer_id"] for row in people] == given[2:]


def test_a_claim_that_a_person_judged_counts_as_a_person_s(keep) -> None:
    steps = [f'<Confidence value=0.5 text="a sum">Row {i}.</Confidence>' for i in range(2)]
    server = keep("\n".join(["Solution:", *steps, "Answer: 70"]), **LEARN)
    server.ask(contract="claims", granularity="claims")
    (item,) = server.take("learn")
    said = [{"claim": 0, "correct": True, "judge": True}, {"claim": 1, "correct": False}, {"correct": False}]
    for one in said:
        assert server.say(item["answer_id"], lease=item["lease"], **one).status_code == 200
    assert [(row["claim"], row["judged"]) for row in taken(server, level="claims")] == [(0, True), (1, False)]
    assert [row["claim"] for row in taken(server, level="claims", judge=False)] == [1]


def test_audits_that_a_judge_graded_are_not_left_out_and_the_refusal_is_no_look(keep, host) -> None:
    server = keep(answer, judge_audits=True, planned_audits=2)
    for number in (2, 13):
        server.ask(f"Say {number}")
    judge(server, host[1], "--queue", "audit")
    (left,) = server.take()
    server.say(left["answer_id"], lease=left["lease"], correct=True)
    refused = server.call("POST", "/v1/feedback/refits", json={"judge": False})
    assert (refused.status_code, refused.json()["error"]["param"]) == (409, "judge")
    assert "a judge graded 1 of the audits" in refused.json()["error"]["message"]
    assert server.call("POST", "/v1/feedback/refits", json={}).json()["look"] == 0


def test_the_command_that_leaves_a_judge_s_verdicts_out_says_why_it_cannot(keep, host, database, tmp_path) -> None:
    server = keep(answer, judge_audits=True)
    server.ask("Say 2")
    judge(server, host[1], "--queue", "audit")
    words = ["calibrate", "--no-judge", "--out", str(tmp_path / "c.json"), "--feedback"]
    with serving(server.app) as address:
        done = [CliRunner().invoke(main, [*words, place]) for place in (database, address)]
    assert [one.exit_code for one in done] == [1, 1]
    assert all("a judge graded 1 of the audits" in one.output for one in done)


def taken(server, **asked) -> list[dict]:
    return server.call("POST", "/v1/feedback/refits", json=asked).json()["rows"]


def test_a_known_answer_is_shown_to_the_judge(keep, host) -> None:
    server = keep(answer, **LEARN)
    given = server.ask("Say 2")
    server.feedback.flush()
    server.say(given["id"], gold="two")
    judge(server, host[1])
    assert host[0].told == [{"question": "Say 2", "reference": "two", "candidate": "2"}]


def test_steps_are_judged_where_they_were_decided_on(keep, host) -> None:
    steps = [f'<Confidence value=0.5 text="a sum">Row {i}.</Confidence>' for i in range(2)]
    server = keep("\n".join(["Solution:", *steps, "Answer: 70"]), **LEARN)
    server.ask(contract="claims", granularity="claims")
    assert judge(server, host[1]).output == "1 graded\n"
    rows = server.call("POST", "/v1/feedback/refits", json={"level": "claims"}).json()["rows"]
    assert [(each["claim"], each["correct"], each["judged"]) for each in rows] == [(0, True, True), (1, False, True)]


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--judge-model", "j"], "go together"), (["--every", "5"], "go together")],
)
def test_half_a_judge_is_refused(words, message) -> None:
    done = CliRunner().invoke(main, ["grade", *words], env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert message in done.output


def test_a_judge_that_refuses_is_one_line_and_costs_nobody_an_item(keep, host) -> None:
    server = keep(answer, **LEARN)
    server.ask("Say 2")
    host[0].status = 401
    done = judge(server, host[1])
    assert done.exit_code == 1
    assert "401" in done.output
    assert "Traceback" not in done.output
    assert len(server.take("learn")) == 1


@pytest.mark.parametrize("fields", [{"correct": True}, {"gold": "2"}])
def test_a_judge_s_verdict_needs_a_lease_and_is_its_own(keep, fields) -> None:
    server = keep(answer, **LEARN)
    given = server.ask("Say 2")
    server.feedback.flush()
    refused = server.say(given["id"], judge=True, **fields)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "judge")
