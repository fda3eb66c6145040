"""`demur calibrate` as a person runs it: tables, a file, a page, and a line for each thing that is wrong."""

import json
import re

import numpy as np
import pytest

from calibration.graded_rows import records
from demur.calibration.calibrate import Options, calibrate
from demur.calibration.calibrator_file import read, write
from demur.calibration.graded_source import read_source
from demur.calibration.wording import odds_explained, promise

MADE = "2026-11-25T12:00:00Z"


@pytest.fixture
def made(rows, tmp_path):
    """A calibrator by the library; the rows by default are 300 of the coarse population."""

    def make(lines=None, level=None, **options):
        return calibrate(read_source(rows(lines or records()), level), Options(**{"resamples": 50} | options), MADE)

    return make


def test_tables_file_and_page(rows, demur, tmp_path):
    result = demur(
        "calibrate",
        rows(records(500, "blunt")),
        "--resamples",
        100,
        "--out",
        tmp_path / "c.json",
        "--max-error",
        "0.05,0.1,0.2",
    )
    assert result.exit_code == 0, result.output
    for words in (
        "confidence AUC",
        "smECE",
        "Brier",
        "SNR-gain",
        "carries",
        "threshold",
        "confidence needed",
        "500 graded",
    ):
        assert words in result.output, words
    calibrator = read(tmp_path / "c.json")
    assert [g.max_error for g in calibrator.guarantees] == [0.05, 0.1, 0.2]
    assert (calibrator.rows, calibrator.problems, calibrator.model) == (500, 500, None)
    assert calibrator.certification.mode == "split"
    assert calibrator.certification.rows == 300
    assert calibrator.after["brier"].value < calibrator.before["brier"].value


def test_the_page_fetches_nothing_and_escapes_everything(rows, demur, tmp_path):
    hostile = "<script>alert(1)</script>"
    lines = [row | {"group": hostile if i % 2 else "sums"} for i, row in enumerate(records(200))]
    result = demur("calibrate", rows(lines), "--resamples", 100, "--out", tmp_path / "c.json")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    sources = re.findall(r'(?:src|href|action)\s*=\s*"([^"]*)"', page)
    assert len(sources) == 3
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    for words in ("What can be promised", "Before and after", "made of", "Kinds of question", "valid for", "no others"):
        assert words in page, words


def test_the_file_holds_no_text_of_questions_or_answers(rows, demur, tmp_path):
    lines = [
        row | {"question": f"Who was person {i}?", "answer": f"Somebody {i}"} for i, row in enumerate(records(120))
    ]
    assert demur("calibrate", rows(lines), "--resamples", 100, "--out", tmp_path / "c.json").exit_code == 0
    text = (tmp_path / "c.json").read_text()
    assert "person" not in text
    assert "Somebody" not in text
    assert "q7" not in text


def test_rows_with_a_confidence_alone_are_verbalized(made):
    lines = [
        {"problem": i, "confidence": r["signals"]["verbalized"], "correct": r["correct"]}
        for i, r in enumerate(records())
    ]
    assert made(lines).calibrator.signals == ("verbalized",)


def test_it_says_when_nothing_beats_the_raw_number(rows, demur, tmp_path):
    rng = np.random.default_rng(0)
    p = rng.random(300)
    lines = [
        {"problem": i, "confidence": round(c, 3), "correct": bool(rng.random() < c)} for i, c in enumerate(p.tolist())
    ]
    result = demur("calibrate", rows(lines), "--resamples", 100, "--out", tmp_path / "c.json")
    assert "Nothing beats the raw number: verbalized is served as it is." in result.output
    assert read(tmp_path / "c.json").map.kind == "identity"


def test_it_says_which_signal_carried_it(rows, demur, tmp_path):
    rng = np.random.default_rng(1)
    lines = [
        {"problem": i, "signals": {"verbalized": 0.9, "critic": round(c, 3)}, "correct": bool(rng.random() < c)}
        for i, c in enumerate(rng.random(300).tolist())
    ]
    result = demur("calibrate", rows(lines), "--resamples", 100, "--out", tmp_path / "c.json")
    assert "critic alone carries the map" in result.output
    assert read(tmp_path / "c.json").signals == ("critic",)


def test_the_map_of_a_split_never_saw_the_rows_that_certify_it(made):
    """Verdicts of the certifying problems, turned over: other promises, the same map."""
    lines = records(400, "blunt")
    first = made(lines)
    source_rows = [row["problem"] for row in lines]
    certifying = {f"q{i}" for i in np.flatnonzero(~fitting_of(source_rows))}
    turned = [row | {"correct": row["correct"] ^ (row["problem"] in certifying)} for row in lines]
    second = made(turned)
    assert second.calibrator.map == first.calibrator.map
    assert second.calibrator.guarantees != first.calibrator.guarantees


def test_the_file_gives_graded_answers_the_confidence_they_were_certified_with(made, tmp_path):
    lines = records(500, "coarse")
    found = made(lines)
    write(tmp_path / "c.json", found.calibrator)
    calibrator = read(tmp_path / "c.json")
    certifying = np.flatnonzero(~fitting_of(lines))
    values = [[lines[i]["signals"][name] for name in calibrator.signals] for i in certifying]
    served = np.array([calibrator.confidence(np.array([row]))[0] for row in values])
    assert np.array_equal(served, found.after.confidence)
    certified = [g for g in calibrator.guarantees if g.threshold is not None]
    assert certified
    for g in certified:
        assert (served >= g.threshold).sum() == g.answered


def fitting_of(problems):
    from demur.calibration.calibrate import FIT_SHARE
    from demur.core.calibration.folds import split

    return split(np.arange(len(problems)), FIT_SHARE, 0)


def test_cross_fit_certifies_on_all_problems_and_is_no_exact_promise(rows, demur, tmp_path):
    path = rows(records(300))
    result = demur("calibrate", path, "--certify", "cross-fit", "--resamples", 100, "--out", tmp_path / "c.json")
    assert result.exit_code == 0, result.output
    calibrator = read(tmp_path / "c.json")
    assert not calibrator.certification.exact
    assert calibrator.certification.rows == 300
    assert "approximate" in result.output
    page = (tmp_path / "c.html").read_text()
    assert "times in" not in result.output + page


def test_an_exact_promise_is_worded_as_one(rows, demur, tmp_path):
    assert (
        demur("calibrate", rows(records(600, "sharp")), "--resamples", 100, "--out", tmp_path / "c.json").exit_code == 0
    )
    assert "9 times in 10" in (tmp_path / "c.html").read_text()


def test_a_raw_signal_needs_no_split(made):
    found = made(raw="critic")
    assert found.calibrator.certification.mode == "raw"
    assert found.calibrator.certification.exact
    assert found.calibrator.certification.rows == 300
    assert found.calibrator.signals == ("critic",)


def test_levels_together_and_looks_cost_delta(made):
    assert {g.delta for g in made().calibrator.guarantees} == {0.1}
    together = made(levels=(0.1, 0.2), simultaneous=True, look=2).calibrator
    assert {g.delta for g in together.guarantees} == {0.1 / 2 / 4}
    assert (together.certification.look, together.certification.delta) == (2, 0.1)
    assert "All lines together hold that often" in (odds_explained(together) or "")
    assert "9 times in 10" in promise(next(g for g in together.guarantees if g.threshold is not None), together)


def test_samples_of_a_problem_stay_together_and_one_certifies(made):
    lines = [row | {"problem": f"p{i // 3}"} for i, row in enumerate(records(360))]
    found = made(lines)
    assert (found.calibrator.rows, found.calibrator.problems) == (360, 120)
    assert found.calibrator.certification.rows == 72
    assert found.before.problems == 72
    assert len(found.before) == 216
    assert all(g.answered <= 72 for g in found.calibrator.guarantees)


def test_claims_have_a_calibrator_of_their_own(made):
    lines = [row | {"problem": f"p{i // 5}", "claim": i % 5} for i, row in enumerate(records(500, "sharp"))]
    found = made(lines, levels=(0.2, 0.3))
    assert found.calibrator.level == "claims"
    assert found.calibrator.certification.rows == 60
    mixed = lines + records(60)
    with pytest.raises(Exception, match="--level"):
        made(mixed)
    assert made(mixed, level="response").calibrator.rows == 60


def test_rows_nobody_could_grade_are_left_out_and_counted(rows, demur, tmp_path):
    lines = [row | ({"correct": None} if i < 30 else {}) for i, row in enumerate(records(200))]
    result = demur("calibrate", rows(lines), "--resamples", 100, "--out", tmp_path / "c.json")
    assert "30 that nobody could grade are left out." in result.output
    assert read(tmp_path / "c.json").rows == 170


def one_bad(**fields):
    return lambda: [*records(100), {"problem": "last", "confidence": 0.5, "correct": True} | fields]


BAD = {
    "too few": (lambda: records(49), "49 graded rows are too few"),
    "ungraded do not count": (
        lambda: records(45) + [r | {"problem": f"x{i}", "correct": None} for i, r in enumerate(records(20))],
        "45 graded rows are too few",
    ),
    "few problems": (lambda: [r | {"problem": i % 10} for i, r in enumerate(records(80))], "10 problems"),
    "all right": (lambda: [r | {"correct": True} for r in records(80)], "all 80 graded rows are right"),
    "all wrong": (lambda: [r | {"correct": False} for r in records(80)], "all 80 graded rows are wrong"),
    "no id": (one_bad(problem=None), 'line 101: "problem"'),
    "empty id": (one_bad(problem=""), 'line 101: "problem"'),
    "percent": (
        one_bad(confidence=87),
        'line 101: "confidence" is 87; it must be in [0, 1]; divide percentages by 100',
    ),
    "percent signal": (one_bad(signals={"critic": 55.5}), 'line 101: "signals" critic is 55.5'),
    "negative": (one_bad(confidence=-0.5), '"confidence" is -0.5'),
    "nan": (one_bad(confidence=float("nan")), '"confidence" is NaN'),
    "infinite": (one_bad(confidence=float("inf")), '"confidence" is inf'),
    "text": (one_bad(confidence="high"), "\"confidence\" is 'high'"),
    "verdict": (one_bad(correct="yes"), '"correct" must be true, false, or null'),
    "no verdict": (lambda: [*records(100), {"problem": "last", "confidence": 0.5}], '"correct" must be'),
    "signals a list": (one_bad(signals=[0.5]), '"signals" must be an object'),
    "signal name": (one_bad(signals={"My Signal": 0.5}), "'My Signal'"),
    "twice": (
        lambda: [{**r, "sample": 0} for r in [*records(100), records(1)[0]]],
        "problem 'q0', sample 0 is there twice",
    ),
    "number and text": (
        lambda: [
            *records(100),
            {"problem": 7, "confidence": 0.5, "correct": True},
            {"problem": "7", "confidence": 0.5, "correct": True},
        ],
        "problems 7 and '7' look like one problem",
    ),
    "spaces": (one_bad(problem="q3 "), "'q3' and 'q3 ' look like one problem"),
    "one question twice": (
        lambda: [r | {"question": "What is  it?" if i in (3, 90) else f"q {i}"} for i, r in enumerate(records(100))],
        "'q3' and 'q90' are the same question",
    ),
    "explicit risk": (one_bad(risk_threshold=0.5), "explicit-risk"),
    "no signal": (
        lambda: [{"problem": i, "confidence": None, "correct": i % 2 == 0} for i in range(80)],
        'no row has a "confidence"',
    ),
    "a list": (lambda: [*records(60), [1]], "a row is a JSON object"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_rows_are_one_clear_line_and_write_nothing(name, rows, demur, tmp_path):
    lines, words = BAD[name]
    result = demur("calibrate", rows(lines()), "--resamples", 100, "--out", tmp_path / "c.json")
    assert result.exit_code == 1
    assert words in result.stderr, result.stderr
    assert result.stderr.count("error:") == 1
    assert "Traceback" not in result.output
    assert not (tmp_path / "c.json").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--max-error", "5"), "did you mean 0.05?"),
        (("--max-error", "0.1,x"), "'x' is no number"),
        (("--max-error", "0"), "between 0 and 1"),
        (("--max-error", "nan"), "between 0 and 1"),
        (("--delta", "10"), "--delta: 10"),
        (("--delta", "0"), "--delta: 0"),
        (("--raw", "p_true"), "--raw p_true: the rows have"),
    ],
)
def test_options_that_cannot_be_are_refused(options, words, rows, demur, tmp_path):
    result = demur(
        "calibrate", rows(records(80, signals=2)), "--resamples", 100, "--out", tmp_path / "c.json", *options
    )
    assert result.exit_code == 1
    assert words in result.stderr
    assert not (tmp_path / "c.json").exists()


def test_files_that_are_none_are_named(demur, tmp_path, rows):
    assert (
        "No such file"
        in demur("calibrate", tmp_path / "none.jsonl", "--resamples", 100, "--out", tmp_path / "c.json").stderr
    )
    assert "--out" in demur("calibrate", rows(records(80)), "--out", tmp_path / "c.html").stderr
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"problem": 1,\n')
    assert "line 1: not JSON" in demur("calibrate", broken, "--resamples", 100, "--out", tmp_path / "c.json").stderr


def test_standard_input_and_json(demur, tmp_path):
    text = "".join(json.dumps(row) + "\n" for row in records(200))
    result = demur("calibrate", "-", "--resamples", 100, "--out", tmp_path / "c.json", "--json", stdin=text)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == json.loads((tmp_path / "c.json").read_text())


def test_the_same_rows_make_the_same_calibrator(made):
    assert made().calibrator == made().calibrator
    assert made().calibrator.id != made(seed=1).calibrator.id
