"""The same store on a real PostgreSQL, with two replicas at once."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from bench._postgres import postgres
from sqlalchemy import create_engine, text

from demur.feedback.database import open_database
from demur.feedback.errors import StoreUnusable
from feedback.simulated import grade, row, write

pytestmark = pytest.mark.operations
SURE = "Two rows of 20 are 40.\nAnswer: 70\nConfidence: 0.9"


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    with postgres() as url:
        yield url


@pytest.fixture
def url(server_url: str, request) -> str:
    """A database of the test's own."""
    name = f"test_{abs(hash(request.node.name)) % 10**9}"
    admin = create_engine(server_url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    admin.dispose()
    return server_url.removesuffix("postgres") + name


def test_an_answer_is_kept_graded_and_deleted(keep, url) -> None:
    server = keep(SURE, url=url)
    asked = server.ask("How many eggs?\u0000 \U0001f600")
    (item,) = server.take()
    assert item["messages"][0]["content"] == "How many eggs?\ufffd \U0001f600"
    assert server.say(asked["id"], lease=item["lease"], correct=False).json()["source"] == "audit"
    assert server.summary()["drift"][0]["audits"] == 1
    rows = server.call("POST", "/v1/feedback/refits", json={}).json()["rows"]
    assert [(each["correct"], each["signals"]) for each in rows] == [(False, {"verbalized": 0.9})]
    assert server.call("DELETE", f"/v1/feedback/{asked['id']}").status_code == 200
    assert server.summary()["audit"]["graded"] == 0


def test_two_replicas_share_a_queue_and_a_drift_test(keep, url) -> None:
    replicas = [keep(url=url, drift_max_error=0.2) for _ in range(2)]
    write(replicas[0], (row(i, 0.9) for i in range(200)))

    def work(number: int) -> None:
        for _ in range(10):
            grade(replicas[number % 2], lambda item: int(item["id"][4:]) % 4 > 0, f"grader{number}", limit=5)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    found = replicas[0].summary()
    assert found["audit"]["graded"] == 200
    assert (found["drift"][0]["audits"], found["drift"][0]["wrong"]) == (200, 50)
    assert sum(each["audits"] for each in found["graders"]) == 200


def test_replicas_that_start_together_migrate_once(url) -> None:
    with ThreadPoolExecutor(4) as pool:
        for engine in pool.map(open_database, [url] * 4):
            engine.dispose()


def test_a_database_that_is_away_loses_no_answer_that_waits(keep, url) -> None:
    server = keep(SURE, url=url)
    with server.feedback._db.begin() as db:
        db.execute(text("ALTER TABLE answers RENAME TO gone"))
    asked = server.ask()["id"]
    assert not server.feedback._writer.flush(0.5)
    with server.feedback._db.begin() as db:
        db.execute(text("ALTER TABLE gone RENAME TO answers"))
    assert server.feedback.flush()
    assert [item["answer_id"] for item in server.take()] == [asked]


def test_what_cannot_be_reached_is_one_line() -> None:
    with pytest.raises(StoreUnusable, match=r"cannot open postgresql\+psycopg://demur:\*\*\*@127\.0\.0\.1:1/x"):
        open_database("postgresql://demur:secret@127.0.0.1:1/x")


def test_grading_in_two_loops_at_once_waits_and_does_not_fail(keep, url) -> None:
    server = keep(url=url)
    write(server, (row(i, 0.9) for i in range(40)))

    async def grab() -> list[str]:
        found = await asyncio.gather(*(server.feedback.claim("audit", f"grader{i}", 4) for i in range(10)))
        return [item["id"] for items in found for item in items]

    taken = asyncio.run(grab())
    assert len(taken) == len(set(taken))
    assert len(taken) == 40
