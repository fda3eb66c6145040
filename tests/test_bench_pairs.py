"""What a ratio over pairs shows, and what counts as moved between two records."""

import json

import pytest
from bench.compare import compared, keep_in, moved, summary, word
from bench.pairs import RoundMean, mean_of, ratio_of, verdict
from bench.record import figures_of, keep


def test_a_ratio_is_that_of_neighbours_and_not_of_means() -> None:
    ours, theirs = [1.0, 10.0, 100.0, 4.0], [2.0, 20.0, 200.0, 8.0]
    found = ratio_of(ours, theirs)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))
    assert verdict(found) == "lower"


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        ([1.02, 0.99, 1.01, 0.98, 1.0, 1.01, 0.99, 1.0], "no difference seen"),
        ([1.4, 1.42, 1.38, 1.41, 1.39, 1.4, 1.4, 1.43], "higher"),
        ([0.4, 2.5, 1.1, 0.7, 3.0, 0.5, 1.0, 1.9], "too noisy"),
    ],
)
def test_the_verdict(ours, expected) -> None:
    assert verdict(ratio_of(ours, [1.0] * len(ours))) == expected


@pytest.mark.parametrize(("ours", "theirs"), [([], []), ([1.0], [1.0, 2.0]), ([0.0], [1.0])])
def test_what_is_no_ratio(ours, theirs) -> None:
    with pytest.raises(ValueError, match="a ratio needs"):
        ratio_of(ours, theirs)


def test_a_record_keeps_what_other_benchmarks_measured(tmp_path) -> None:
    path = tmp_path / "results" / "record.json"
    keep("server", {"x": mean_of([1.0, 3.0], "ms")}, {"pairs": 2}, to=path)
    keep("gateway", {"y": mean_of([5.0], "ms")}, {}, to=path)
    record = json.loads(path.read_text())
    assert figures_of(record, "server")["x"].value == 2.0
    assert figures_of(record, "gateway")["y"] == RoundMean(5.0, 5.0, 5.0, 1, "ms")


def test_a_baseline_keeps_what_a_record_did_not_measure(tmp_path) -> None:
    baseline, record = tmp_path / "baseline.json", tmp_path / "record.json"
    keep("server", {"x": mean_of([5.0], "ms")}, {}, to=record)
    assert keep_in(baseline, record) == ["server"]
    keep("gateway", {"y": mean_of([1.0], "ms")}, {}, to=record)
    keep("server", {"x": mean_of([7.0], "ms")}, {}, to=baseline)
    keep("start", {"z": mean_of([3.0], "s")}, {}, to=baseline)
    assert keep_in(baseline, record) == ["gateway", "server"]
    keep("server", {"x": mean_of([9.0], "ms")}, {}, to=record)
    assert keep_in(baseline, record, ["gateway"]) == ["gateway"]
    with pytest.raises(SystemExit, match="no gateways; there are: gateway, server"):
        keep_in(baseline, record, ["gateways"])
    kept = json.loads(baseline.read_text())
    assert {name: [one.value for one in figures_of(kept, name).values()] for name in kept} == {
        "gateway": [1.0],
        "server": [5.0],
        "start": [3.0],
    }


def test_what_moved_is_what_has_no_value_in_common() -> None:
    before, near, far = RoundMean(1.0, 0.9, 1.1, 8), RoundMean(1.15, 1.05, 1.25, 8), RoundMean(2.0, 1.8, 2.2, 8)
    assert (moved(before, near), moved(before, far)) == (False, True)
    assert (word(before, near), word(before, far), word(None, far)) == ("", "2.00 times", "new")
    records = [{"server": {"figures": {"x": figure.json()}}} for figure in (before, far)]
    assert compared(*records) == [("server: x", before, far)]


def test_what_only_one_record_has_did_not_move() -> None:
    before, far = RoundMean(1.0, 0.9, 1.1, 8), RoundMean(2.0, 1.8, 2.2, 8)
    assert summary([("x", before, far), ("y", before, before)]) == "1 of 2 figures moved"
    rows = [("x", before, before), ("y", before, None), ("z", None, far)]
    assert summary(rows) == "0 of 1 figures moved, 2 are in one of the two records only"
