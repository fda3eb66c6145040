import json
from pathlib import Path
from typing import Any

import pytest

from demur import prompts
from demur_training.data.preparation import DataSettings, Overlap, Report, questions, write
from demur_training.data.rows import read_rows
from demur_training.errors import DataError
from demur_training.smoke import toy_task

FIXTURES = Path(__file__).parents[2] / "data" / "training"


def rows(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"question": question, "answer": answer} for question, answer in pairs]


def read(path: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    return pq.read_table(path).to_pylist()


def kept(source: list[dict[str, str]], overlap: Overlap | None = None) -> tuple[list[str], dict[str, int]]:
    report = Report()
    return [q.text for q in questions(source, report, overlap or Overlap(5))], dict(report.dropped)


def test_duplicates_are_dropped_and_disputed_questions_too() -> None:
    source = rows(("What is 2+2?", "4"), ("what is  2 + 2", "4"), ("Who won?", "A"), ("Who won?", "B"), ("And?", "C"))
    assert kept(source) == (["What is 2+2?", "And?"], {"duplicate": 1, "duplicate with another answer": 2})


def test_copies_of_evaluation_questions_are_dropped_and_shared_phrases_are_not() -> None:
    phrase = "where m and n are coprime find m plus n"
    evaluation = [
        f"The area of the blue lake is m over n {phrase}",
        f"Bob draws two cards at random {phrase}",
        "Short one?",
    ]
    source = rows(
        ("Alice knows the area of the blue lake in feet", "1"),
        (f"A new problem {phrase}", "2"),
        ("short ONE", "3"),
        ("Short one or another?", "4"),
    )
    texts, dropped = kept(source, Overlap(6, evaluation))
    assert texts == [source[1]["question"], source[3]["question"]]
    assert dropped == {"in an evaluation set": 2}


def test_real_rows_of_gsm8k_and_math_are_understood() -> None:
    for name, expected in (("gsm8k.jsonl", "72"), ("math_dict_ground_truth.jsonl", "0")):
        found = list(questions(read_rows(str(FIXTURES / name)), Report(), Overlap(13)))
        assert found[0].answers == (expected,)
        assert len(found) == 3


@pytest.mark.parametrize("contract", ["response", "claims", "explicit_risk"])
def test_the_parquet_holds_the_prompt_the_server_builds(contract: Any, tmp_path: Path) -> None:
    write(rows(*((f"What is {i}+{i}?", str(2 * i)) for i in range(40))), "sums", DataSettings(contract), tmp_path)
    train, val = read(tmp_path / "train.parquet"), read(tmp_path / "val.parquet")
    assert (len(train), len(val)) == (36, 4)
    for row in train + val:
        info = row["extra_info"]
        t = info.get("risk_threshold")
        assert row["prompt"] == prompts.messages(info["question"], contract, domain="maths", risk_threshold=t)
        assert row["reward_model"]["ground_truth"] == str(2 * int(info["question"].split()[2].split("+")[0]))
        assert (t is not None) == (contract == "explicit_risk")
        assert bool(info.get("redraw")) == (contract == "explicit_risk" and info["split"] == "train")


def test_validation_thresholds_cover_the_range(tmp_path: Path) -> None:
    source = rows(*((f"What is {i}+{i}?", str(2 * i)) for i in range(300)))
    write(source[:100], "sums", DataSettings("explicit_risk"), tmp_path, validation=source[100:])
    thresholds = {row["extra_info"]["risk_threshold"] for row in read(tmp_path / "val.parquet")}
    assert thresholds == {i / 100 for i in range(100)}


def test_the_report_counts_every_row(tmp_path: Path) -> None:
    source = [
        *rows(*((f"What is {i}+{i}?", str(2 * i)) for i in range(20))),
        *rows(("What is 1+1?", "2")),
        {"question": "?"},
    ]
    report = write(
        source, "sums", DataSettings("response", val_size=2), tmp_path, evaluation=rows(("what is 3 + 3", "6"))
    )
    written = json.loads((tmp_path / "report.json").read_text())
    assert written == report.as_dict()
    assert (written["read"], written["kept"]) == (22, 18)  # one is held out
    assert written["dropped"] == {"in an evaluation set": 1, "duplicate": 1, "no answer": 1}


def test_held_out_questions_do_not_leak_into_training(tmp_path: Path) -> None:
    source = rows(*((f"What is {i}+{i}?", str(2 * i)) for i in range(30)))
    write(source, "sums", DataSettings("response"), tmp_path, validation=source[:5])
    asked = {row["extra_info"]["question"] for row in read(tmp_path / "train.parquet")}
    assert asked == {row["question"] for row in source[5:]}


def test_the_same_seed_writes_the_same_files(tmp_path: Path) -> None:
    source = rows(*((f"What is {i}+{i}?", str(2 * i)) for i in range(50)))
    for name in ("a", "b"):
        write(source, "sums", DataSettings("response", limit=20), tmp_path / name)
    assert read(tmp_path / "a" / "train.parquet") == read(tmp_path / "b" / "train.parquet")
    assert len(read(tmp_path / "a" / "train.parquet")) == 20


def test_a_set_without_answers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no question left.*2 no answer"):
        write([{"question": "a?"}, {"question": "b?"}], "empty", DataSettings("response"), tmp_path)


def test_the_toy_task_has_the_chances_it_says(tmp_path: Path) -> None:
    asked = list(toy_task.throws(4000, seed=3))
    assert len({throw.question for throw in asked}) == 4000
    for sides in toy_task.SIDES:
        ones = [throw.side == 1 for throw in asked if throw.sides == sides]
        assert sum(ones) / len(ones) == pytest.approx(1 / sides, abs=0.05)
    assert toy_task.best_reward() == pytest.approx((1 + 1 / 4 + 1 / 16 + 1 / 100) / 4)
