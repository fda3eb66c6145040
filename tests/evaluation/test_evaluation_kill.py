"""A run that is killed goes on where it was."""

import subprocess
import sys
from collections import deque

import pytest

from demur.evaluation.asking.store import read_records
from demur.evaluation.row_files import read_rows


@pytest.fixture
def command(host, sums, tmp_path):
    return [
        *(sys.executable, "-m", "demur", "evaluate", str(sums(10)), "--grader", "maths"),
        *("--api", "chat", "--model", "m", "--base-url", host.url, "--out", str(tmp_path / "run")),
    ]


def test_a_killed_run_goes_on_without_asking_twice(host, command, tmp_path):
    host.troubles = {"6": deque(["hang"])}
    reached = host.reach("6")
    process = subprocess.Popen([*command, "--concurrency", "1"], stderr=subprocess.DEVNULL)
    try:
        assert reached.wait(60)  # with one question at a time, the six before it are stored
    finally:
        process.kill()
        process.wait()
    store = tmp_path / "run" / "responses.jsonl.gz"
    assert [record["problem"] for record in read_records(store)] == [f"sum-{k}" for k in range(6)]
    store.write_bytes(store.read_bytes()[:-5])  # as if the kill had come in the middle of the last write

    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "was half-written; its question was asked again" in done.stderr
    assert host.asked == {str(k): 2 if k in (5, 6) else 1 for k in range(10)}
    rows = read_rows(tmp_path / "run" / "rows.jsonl").rows
    assert [row.problem for row in rows] == [f"sum-{k}" for k in range(10)]


def test_control_c_says_how_to_go_on(host, command, tmp_path):
    import signal

    host.troubles = {"6": deque(["hang"])}
    reached = host.reach("6")
    at_a_prompt = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731  a shell's background job ignores it
    process = subprocess.Popen(
        [*command, "--concurrency", "1"], stderr=subprocess.PIPE, text=True, preexec_fn=at_a_prompt
    )
    assert reached.wait(60)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on" in errors
    assert len(list(read_records(tmp_path / "run" / "responses.jsonl.gz"))) == 6
