"""The client, `demur feedback` and `demur grade` against a real server."""

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from demur.cli import main
from demur_client import AsyncClient, Client, NotFoundError
from live import serving

SURE = "Two rows of 20 are 40.\nAnswer: 70\nConfidence: 0.9"
runner = CliRunner()


@pytest.fixture
def url(keep) -> Iterator[str]:
    server = keep(SURE, planned_audits=40)
    with serving(server.app) as address:
        yield address


def demur(*words: str, **options):
    return runner.invoke(main, words, **options)


def test_an_answer_takes_its_verdict(url) -> None:
    with Client(base_url=url) as client:
        answer = client.answer("How many eggs?")
        kept = answer.feedback(correct=True)
        assert (kept.answer_id, kept.verdict, kept.source, kept.repeated) == (answer.id, "right", "volunteered", False)
        assert answer.at(0.1).feedback(correct=True).repeated
        assert client.feedback(answer.id, gold="71").verdict == "wrong"
        with client.stream("How many eggs?") as stream:
            streamed = stream.result()
        assert streamed.feedback(correct=False).verdict == "wrong"
        with pytest.raises(ValueError, match="not both"):
            answer.feedback(correct=True, gold="70")
        with pytest.raises(NotFoundError):
            client.feedback("ans_" + "0" * 26, correct=True)
        assert "_feedback" not in answer.to_dict()
        assert client.answer("How many eggs?") != answer


async def _asynchronously(url: str) -> None:
    async with AsyncClient(base_url=url) as client:
        answer = await client.answer("How many eggs?")
        assert (await client.feedback(answer, correct=False)).verdict == "wrong"
        with pytest.raises(ValueError, match=r"client\.feedback"):
            answer.feedback(correct=True)


def test_the_asynchronous_client_has_it_too(url) -> None:
    import asyncio

    asyncio.run(_asynchronously(url))


def test_a_verdict_from_the_command_line(url) -> None:
    with Client(base_url=url) as client:
        answer = client.answer("How many eggs?").id
    assert demur("feedback", answer, "wrong", "--base-url", url).output == f"{answer} wrong (volunteered)\n"
    assert "as before" in demur("feedback", answer, "wrong", "--base-url", url).output
    assert demur("feedback", answer, "undo", "--base-url", url).output == f"{answer} undone (volunteered)\n"
    assert demur("feedback", answer, "--gold", "70", "--base-url", url).output == f"{answer} right (gold)\n"
    assert demur("feedback", answer, "--base-url", url).exit_code == 2
    missing = demur("feedback", "ans_" + "0" * 26, "right", "--base-url", url)
    assert missing.exit_code == 1
    assert "no answer" in missing.output


def test_a_terminal_loop_grades_skips_undoes_and_goes_on_later(url) -> None:
    with Client(base_url=url) as client:
        for _ in range(4):
            client.answer("How many eggs?")
    first = demur("grade", "--base-url", url, input="1\nx\n0\nu\n1\ns\nq\n")
    assert first.exit_code == 0, first.output
    assert first.output.endswith("2 graded\n")
    assert "graded 0 of 40" in first.output
    assert "How many eggs?" in first.output
    second = demur("grade", "--base-url", url, input="0\nS\n1\n")
    assert "graded 2 of 40" in second.output
    assert second.output.endswith("nothing is left to grade\n1 graded\n")


def test_steps_come_before_the_answer_where_they_were_decided_on(keep) -> None:
    steps = [f'<Confidence value=0.9 text="a sum">Row {i}.</Confidence>' for i in range(2)]
    server = keep("\n".join(["Solution:", *steps, "Answer: 70"]))
    asked = [server.ask(contract="claims", granularity="claims")["id"] for _ in range(2)]
    with serving(server.app) as address:
        done = demur("grade", "--base-url", address, input="1\nS\nu\n0\n1\n1\ns\nq\n")
    assert done.exit_code == 0, done.output
    assert "> step 2: Row 1." in done.output
    assert done.output.endswith("1 graded\n")
    rows = server.call("POST", "/v1/feedback/refits", json={"level": "claims"}).json()["rows"]
    assert {each["answer_id"] for each in rows} == set(asked)
    told = sorted([(each["claim"], each["correct"]) for each in rows if each["answer_id"] == one] for one in asked)
    assert told == [[(0, False), (1, False)], [(0, False), (1, True)]]  # the one that was put off counts as wrong


def test_what_stands_in_the_way_is_one_line() -> None:
    gone = demur("grade", "--base-url", "http://127.0.0.1:9")
    assert gone.exit_code == 1
    assert "cannot be reached" in gone.output
    assert "Traceback" not in gone.output


def test_known_answers_grade_what_they_are_about_and_leave_the_rest(keep, tmp_path) -> None:
    server = keep(lambda messages: f"Counted.\nAnswer: {len(messages[-1]['content'])}\nConfidence: 0.9")
    for question in ("a", "bb", "ccc", "dddd"):
        server.ask(question)
    lengths = {text: text.rindex(text[-1]) + 1 for text in ("a", "bb", "dddd")}
    file = tmp_path / "known.jsonl"
    file.write_text("".join(json.dumps({"question": q, "answer": n}) + "\n" for q, n in lengths.items()))
    with serving(server.app) as address:
        done = demur("grade", "--known", str(file), "--base-url", address)
        assert done.exit_code == 0, done.output
        assert done.stdout == "3 graded\n"
        assert "1 others have no known answer" in done.stderr
        file.write_text('{"question": "a"}\n{"answer": 3}\n')
        assert "line 2" in demur("grade", "--known", str(file), "--base-url", address).output
    summary = server.summary()
    assert (summary["audit"]["graded"], summary["audit"]["open"], summary["gold"]) == (3, 1, 3)
    refit = server.call("POST", "/v1/feedback/refits", json={}).json()
    assert (len(refit["rows"]), refit["audits"], refit["put_off"]) == (4, 4, 1)  # put off counts as wrong
    assert server.take()[0]["messages"][0]["content"] == "ccc"
