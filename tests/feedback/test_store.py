"""The database and the writer before it: migrations, privacy of the file, a full queue, kill -9."""

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from demur.feedback.database import default_url, open_database
from demur.feedback.errors import StoreUnusable
from demur.feedback.tables import metadata
from demur.feedback.writer import Writer

SURE = "Two rows of 20 are 40.\nAnswer: 70\nConfidence: 0.9"


def test_migrations_make_the_tables_that_the_code_uses(database) -> None:
    engine = open_database(database)
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    engine.dispose()
    assert differences == []


def test_a_file_is_its_owner_s_alone_and_has_a_log(database) -> None:
    engine = open_database(database)
    assert stat.S_IMODE(os.stat(database).st_mode) == 0o600
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
    engine.dispose()


def test_it_is_in_the_user_s_data_folder_by_default(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_url() == f"sqlite:///{tmp_path}/demur/feedback.db"


def test_a_database_of_a_newer_version_is_left_alone(database) -> None:
    open_database(database).dispose()
    engine = create_engine(f"sqlite:///{database}")
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(StoreUnusable, match="newer demur"):
        open_database(database)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("mystery://x/y", "write a file, or a URL"),
        ("sqlite://", "needs a file"),
        ("/proc/nothing/feedback.db", "cannot open sqlite"),
    ],
)
def test_what_is_no_database_is_one_line(address, message) -> None:
    with pytest.raises(StoreUnusable, match=message):
        open_database(address)


def test_a_full_queue_drops_and_counts_and_never_waits() -> None:
    entered, proceed = threading.Event(), threading.Event()
    written, dropped = [], []

    def write(rows) -> None:
        entered.set()
        assert proceed.wait(10)
        written.extend(rows)

    writer = Writer(write, 3, dropped.append, lambda: None)
    writer.start()
    writer.put({"id": 0})
    assert entered.wait(10)
    for i in range(1, 6):
        writer.put({"id": i})
    assert [row["id"] for row in dropped] == [3, 4, 5]
    proceed.set()
    writer.close()
    assert [row["id"] for row in written] == [0, 1, 2]


def test_a_write_that_fails_is_tried_again_in_order() -> None:
    failing, written = [True, True], []

    def write(rows) -> None:
        if failing:
            failing.pop()
            raise OSError("disk full")
        written.extend(rows)

    writer = Writer(write, 10, lambda row: None, lambda: None)
    writer.start()
    for i in range(4):
        writer.put({"id": i})
    assert writer.flush(10)
    writer.close()
    assert [row["id"] for row in written] == [0, 1, 2, 3]


def test_a_writer_that_is_never_idle_tidies_up_all_the_same() -> None:
    now, tidied = [0.0], threading.Event()
    writer = Writer(lambda rows: None, 10, lambda row: None, tidied.set, every=100.0, clock=lambda: now[0])
    writer.start()
    writer.put({"id": 1})
    assert writer.flush(10)
    assert not tidied.is_set()
    now[0] = 101.0
    writer.put({"id": 2})
    assert tidied.wait(10)
    writer.close()


def test_a_server_on_its_way_out_writes_what_waits(keep, database) -> None:
    server = keep(SURE)
    asked = {server.ask(f"{i} eggs?")["id"] for i in range(5)}
    server.feedback.close()
    again = keep(SURE)
    assert {item["answer_id"] for item in again.take(limit=9)} == asked


def test_nothing_is_loaded_where_nothing_is_kept() -> None:
    code = (
        "import sys; from demur.api.app import create_app; from demur.engine.scripted import ScriptedEngine;"
        "from demur.manifest import Manifest; from demur.settings import Settings;"
        "create_app(ScriptedEngine(), Manifest(name='x'), Settings());"
        "print([m for m in sys.modules if m.partition('.')[0] in ('sqlalchemy', 'alembic', 'psycopg')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@contextmanager
def served(database: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`demur serve` in a process of its own."""
    command = [Path(sys.executable).with_name("demur"), "serve", "--engine", "scripted", "--port", "0"]
    environ = os.environ | {"DEMUR_AUDIT_SHARE": "1", "DEMUR_FEEDBACK_DB": database}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ
    ) as process:
        try:
            yield process, process.stdout.readline().split()[3]
        finally:
            process.kill()


def ask_and_grade(url: str, acknowledged: list[str], enough: threading.Event) -> None:
    """Until the server is gone; what it acknowledged is noted."""
    with httpx.Client(base_url=url, timeout=60) as http:
        try:
            while True:
                answer = http.post("/v1/answers", json={"question": "How many eggs?"}).json()["id"]
                reply = http.post("/v1/feedback", json={"answer_id": answer, "correct": True})
                if reply.status_code == 200:
                    acknowledged.append(answer)
                if len(acknowledged) >= 60:
                    enough.set()
        except httpx.HTTPError:
            return


@pytest.mark.operations
def test_kill_9_loses_nothing_that_was_acknowledged(database) -> None:
    acknowledged: list[str] = []
    enough = threading.Event()
    with served(database) as (process, url), ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(ask_and_grade, url, acknowledged, enough)
        assert enough.wait(150)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with served(database) as (_, url), httpx.Client(base_url=url) as http:
        for answer in acknowledged:
            again = http.post("/v1/feedback", json={"answer_id": answer, "correct": True})
            assert again.status_code == 200, answer
            assert again.json()["repeated"] is True
