"""Many questions at a time."""

import json
import threading
from typing import Any

import httpx
import pytest

from demur_client import Answer, Client, Failure, InvalidRequestError


def echo(reply: Any) -> Any:
    """A network that answers each question with itself, and refuses the question "bad"."""

    def handler(request: httpx.Request) -> httpx.Response:
        question = json.loads(request.content)["question"]
        if question == "bad":
            return httpx.Response(400, json={"error": {"message": "no"}})
        return httpx.Response(200, json=reply(answer=question))

    return handler


@pytest.mark.parametrize("concurrency", [1, 3, 100])
def test_answers_come_in_the_order_of_the_questions(use: Any, reply: Any, concurrency: int) -> None:
    questions = [str(number) for number in range(20)]
    answers = use(echo(reply), lambda client: client.answer_many(questions, concurrency=concurrency))
    assert [answer.answer for answer in answers] == questions


def test_a_failure_is_a_value_and_costs_nothing_else(use: Any, reply: Any) -> None:
    good, failure, other = use(echo(reply), lambda client: client.answer_many(["1", "bad", "2"]))
    assert (good.answer, other.answer) == ("1", "2")
    assert isinstance(failure, Failure)
    assert failure.question == "bad"
    assert isinstance(failure.error, InvalidRequestError)
    assert not failure


def test_progress_is_reported_after_each_question(use: Any, reply: Any) -> None:
    seen: list[tuple[int, int]] = []
    use(echo(reply), lambda client: client.answer_many(iter("abc"), progress=lambda *now: seen.append(now)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_bar_is_drawn_on_request(use: Any, reply: Any, capsys: pytest.CaptureFixture[str]) -> None:
    use(echo(reply), lambda client: client.answer_many("abc", progress=True))
    assert "3" in capsys.readouterr().err
    use(echo(reply), lambda client: client.answer_many("abc"))
    assert capsys.readouterr().err == ""


def test_no_questions_no_answers(use: Any, reply: Any) -> None:
    assert use(echo(reply), lambda client: client.answer_many([], progress=True)) == []


def test_concurrency_has_to_be_positive(use: Any, reply: Any) -> None:
    with pytest.raises(ValueError, match="concurrency"):
        use(echo(reply), lambda client: client.answer_many(["1"], concurrency=0))


def test_a_mistake_in_the_call_is_no_failure_value(use: Any, reply: Any) -> None:
    with pytest.raises(TypeError):
        use(echo(reply), lambda client: client.answer_many([None]))


def test_threads_work_at_the_same_time_and_read_questions_as_needed(reply: Any) -> None:
    meeting = threading.Barrier(3, timeout=10)
    taken: list[int] = []

    def handler(request: httpx.Request) -> httpx.Response:
        meeting.wait()
        return httpx.Response(200, json=reply())

    def questions() -> Any:
        for number in range(9):
            taken.append(number)
            yield str(number)

    with Client(transport=httpx.MockTransport(handler)) as client:
        results = client.answer_each(questions(), concurrency=3)
        index, answer = next(results)
        assert index in range(3)
        assert isinstance(answer, Answer)
        assert len(taken) <= 4
        rest = [index for index, _ in results]
    assert sorted([index, *rest]) == list(range(9))


def test_leaving_early_starts_nothing_more(reply: Any) -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content)["question"])
        return httpx.Response(200, json=reply())

    with Client(transport=httpx.MockTransport(handler)) as client:
        for _ in client.answer_each(map(str, range(1000)), concurrency=2):
            break
    assert len(asked) <= 4
