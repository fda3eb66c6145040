"""`demur calibrators use`: what a server serves is switched by its file, and every version stays."""

import json

import pytest

from calibration.test_calibrator_store import CONDITIONS
from demur.calibration.calibrator_file import read
from demur.calibration.store import CalibratorStore
from served_calibrators import calibrator, file


@pytest.fixture
def served(tmp_path):
    return file(tmp_path / "calibrator.json", CONDITIONS)


@pytest.fixture
def newer(tmp_path, served):
    return file(tmp_path / "new.json", CONDITIONS, rows=800, parent=read(served).id, made="2026-11-22T12:00:00Z")


def test_a_server_serves_the_new_one_at_its_next_look_and_goes_back(served, newer, demur):
    store = CalibratorStore([served], "files:one")
    first, second = read(served).id, read(newer).id
    result = demur("calibrators", "use", newer, "--served", served)
    assert result.exit_code == 0, result.output
    assert first in result.stdout
    store.refresh()
    assert [one.calibrator.id for one in store.fitting] == [second]
    newer.unlink()
    assert demur("calibrators", "use", "--back", "--served", served).exit_code == 0
    store.refresh()
    assert [one.calibrator.id for one in store.fitting] == [first]
    assert demur("calibrators", "use", second[:9], "--served", served).exit_code == 0
    assert read(served).id == second


def test_going_back_again_goes_further_back(served, tmp_path, demur):
    ids = [read(served).id]
    for rows in (600, 700):
        path = file(tmp_path / "next.json", CONDITIONS, rows=rows)
        ids.append(read(path).id)
        assert demur("calibrators", "use", path, "--served", served).exit_code == 0
    for expected in (ids[1], ids[0]):
        assert demur("calibrators", "use", "--back", "--served", served).exit_code == 0
        assert read(served).id == expected
    refused = demur("calibrators", "use", "--back", "--served", served)
    assert refused.exit_code == 1
    assert "nothing was served" in refused.stderr
    assert read(served).id == ids[0]


def test_a_version_that_was_put_there_by_hand_is_kept_as_well(served, newer, tmp_path, demur):
    demur("calibrators", "use", newer, "--served", served)
    by_hand = read(file(served, CONDITIONS, rows=999)).id
    assert demur("calibrators", "use", newer, "--served", served).exit_code == 0
    assert demur("calibrators", "use", "--back", "--served", served).exit_code == 0
    assert read(served).id == by_hand


def test_a_damaged_file_does_not_stand_in_the_way(served, newer, demur):
    served.write_text("{}")
    assert demur("calibrators", "use", newer, "--served", served).exit_code == 0
    assert read(served) == read(newer)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fingerprint": "files:two"}, "model fingerprint files:two"),
        ({"contract": "claims"}, "contract claims"),
        ({"level": "claims", "granularity": "claims"}, "level claims"),
    ],
)
def test_one_for_something_else_needs_a_second_word(served, tmp_path, changes, words, demur):
    other, before = file(tmp_path / "other.json", CONDITIONS, **changes), served.read_bytes()
    refused = demur("calibrators", "use", other, "--served", served)
    assert (refused.exit_code, words in refused.stderr) == (1, True), refused.stderr
    assert served.read_bytes() == before
    assert demur("calibrators", "use", other, "--served", served, "--anyway").exit_code == 0
    assert read(served) == read(other)


def test_what_no_server_takes_is_not_used(served, tmp_path, demur):
    bare, before = file(tmp_path / "bare.json", CONDITIONS, model=None), served.read_bytes()
    refused = demur("calibrators", "use", bare, "--served", served, "--anyway")
    assert "without a run card" in refused.stderr
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps(calibrator(CONDITIONS).model_dump(mode="json") | {"rows": 7}))
    assert "digest" in demur("calibrators", "use", edited, "--served", served).stderr
    assert served.read_bytes() == before


@pytest.mark.parametrize("words", [["cal_0"], [], ["cal_0", "--back"]])
def test_a_version_that_is_not_there_or_not_named_is_refused(served, words, demur):
    assert demur("calibrators", "use", *words, "--served", served).exit_code != 0


def test_list_shows_the_versions_with_parents_and_figures(served, newer, demur):
    old = read(served)
    demur("calibrators", "use", newer, "--served", served)
    lines = {line.split()[0]: line for line in demur("calibrators", "list", served).stdout.splitlines() if line.strip()}
    assert "served" in lines[read(newer).id[:12]]
    assert old.id[:12] in lines[read(newer).id[:12]]
    assert "kept" in lines[old.id[:12]]
    assert "0.800" in lines[old.id[:12]]
