"""The benchmark's own arithmetic: what is kept when it is stopped, and what it calls added."""

import pytest
from bench._resumed import Steps
from bench.feedback import cost_rows, lost_in


def test_a_step_that_ended_is_not_done_again_unless_the_options_changed(tmp_path) -> None:
    done: list[str] = []

    def work(name: str):
        return lambda: done.append(name) or {"step": name}

    first = Steps("b", {"answers": 5}, tmp_path)
    assert first.run("one", work("one")) == {"step": "one"}
    with pytest.raises(ZeroDivisionError):
        first.run("two", lambda: 1 / 0)
    again = Steps("b", {"answers": 5}, tmp_path)
    assert again.run("one", work("one")) == {"step": "one"}
    again.run("two", work("two"))
    assert done == ["one", "two"]
    Steps("b", {"answers": 6}, tmp_path).run("one", work("other"))
    assert done[-1] == "other"
    again.end()
    Steps("b", {"answers": 6}, tmp_path).run("one", work("after"))
    assert done[-1] == "after"


def test_what_is_added_is_taken_within_each_round() -> None:
    data = {
        "off": {"median_ms": [1.0, 5.0, 2.0], "cpu_ms": [1.0] * 3},
        "sqlite": {"median_ms": [1.5, 5.25, 2.25], "cpu_ms": [1.2] * 3},
    }
    assert cost_rows("sqlite", data)[-1] == ["sqlite", "added to the median answer, ms", "0.25 (0.25 to 0.50)"]
    assert len(cost_rows("off", data)) == 2


def test_what_is_lost_is_named_and_what_the_kill_may_take_is_not() -> None:
    kept = {"verdicts lost": 0, "answers lost at the kill": 3, "answers lost otherwise": 0}
    assert lost_in({"sqlite": kept, "postgres": kept, "cost": {}}) == ""
    assert lost_in({"sqlite": kept, "postgres": kept | {"verdicts lost": 2}}) == "postgres 2 verdicts lost"
