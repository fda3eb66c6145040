"""Responses on disk: nothing appended is lost, and a half-written end is dropped and said."""

import gzip
import json
import subprocess
import sys

import pytest

from demur.evaluation.asking.store import Store, read_records
from demur.evaluation.errors import StoreError

RECORDS = [{"k": k, "text": "ü\u2028\n" * k} for k in range(30)]


@pytest.fixture
def path(tmp_path):
    with Store(tmp_path / "folder" / "store.jsonl.gz") as store:
        for record in RECORDS:
            store.append(record)
    return tmp_path / "folder" / "store.jsonl.gz"


def test_records_come_back_and_gzip_tools_read_them(path):
    assert list(read_records(path)) == RECORDS
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    assert json.loads(lines[3]) == RECORDS[3]
    assert path.read_bytes()[:2] == b"\x1f\x8b"


def test_opening_again_goes_on(path):
    with Store(path) as store:
        assert not store.dropped
        store.append({"k": 99})
        assert list(store.records())[-1] == {"k": 99}


def test_every_length_of_a_half_written_end_is_dropped(path):
    with Store(path) as store:
        store.append({"k": "last"})
    whole = path.read_bytes()
    last = len(whole) - whole.rindex(b"\x1f\x8b")
    for kept in range(1, last):
        path.write_bytes(whole[:-kept])
        assert list(read_records(path)) == RECORDS
        with Store(path) as store:
            assert store.dropped
            store.append({"k": "again"})
        assert list(read_records(path)) == [*RECORDS, {"k": "again"}]


def test_damage_before_the_end_is_not_passed_over(path):
    content = bytearray(path.read_bytes())
    content[40] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"store\.jsonl\.gz: damaged at byte"):
        list(read_records(path))


def test_records_larger_than_a_chunk_come_back(tmp_path, path):
    import random

    draw = random.Random(0)
    long = {"text": "".join(draw.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=3_000_000))}
    with Store(path) as store:
        store.append(long)
        store.append({"k": "after"})
    assert list(read_records(path)) == [*RECORDS, long, {"k": "after"}]


def test_a_second_writer_is_refused(path):
    with Store(path):
        code = (
            "import sys\nfrom pathlib import Path\nfrom demur.evaluation.asking.store import Store\n"
            "Store(Path(sys.argv[1])).__enter__()"
        )
        second = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert second.returncode == 1
    assert "another process is writing it" in second.stderr
