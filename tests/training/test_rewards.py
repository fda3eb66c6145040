from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur_training.errors import DataError, RecipeError
from demur_training.rewards import REWARD_RULES, check_settings, compute_score

CLAIMS = """private thoughts, confidence 0.2
Solution:
<Confidence value=0.8 text="sum">2 + 2 = 4</Confidence>
<Confidence value=0.5 text="double">2 * 4 = 8</Confidence>
Answer:8"""


def response(confidence: str, answer: str = "8") -> str:
    return f"2 * 4 = 8\nAnswer: {answer}\nConfidence: {confidence}"


def score(text: str, truth: str = "8", info: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
    return dict(compute_score("toy", text, truth, info, **settings))


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [("binary", 1.0, -1.0), ("success", 1.0, 0.0), ("brier", 2 * 0.7 - 0.49, -0.49), ("cross_entropy", 0.925, -0.2598)],
)
def test_each_rule_scores_a_right_and_a_wrong_answer(rule: str, right: float, wrong: float) -> None:
    assert score(response("0.7"), rule=rule)["score"] == pytest.approx(right, abs=1e-3)
    assert score(response("0.7"), truth="9", rule=rule)["score"] == pytest.approx(wrong, abs=1e-3)


@pytest.mark.parametrize(("aggregation", "confidence"), [("product", 0.4), ("min", 0.5)])
def test_claims_are_scored_by_their_aggregate(aggregation: str, confidence: float) -> None:
    got = score(CLAIMS, contract="claims", aggregation=aggregation)
    assert got["confidence"] == pytest.approx(confidence)
    assert got["score"] == pytest.approx(2 * confidence - confidence**2)
    assert (got["claims"], got["valid"], got["format"]) == (2.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("text", "truth", "expected"),
    [
        ("Answer: 8", "8", 1.0),
        ("Answer: 8", "9", -0.25 / 0.75),
        ("Answer: <IDK>", "8", 0.0),
        ("dunno", "8", -0.25 / 0.75),
    ],
)
def test_explicit_risk_uses_the_threshold_of_the_row(text: str, truth: str, expected: float) -> None:
    got = score(text, truth, {"risk_threshold": 0.25}, rule="explicit_risk", contract="explicit_risk")
    assert got["score"] == pytest.approx(expected)
    assert got["abstained"] == float(text.endswith("<IDK>"))


def test_explicit_risk_without_a_threshold_is_refused() -> None:
    with pytest.raises(DataError, match="risk_threshold"):
        score("Answer: 8", rule="explicit_risk", contract="explicit_risk")


@pytest.mark.parametrize(
    "text",
    [
        "8",
        "Answer: 8",
        "Confidence: 0.7",
        response("high"),
        response("70"),
        response("1.7"),
        response("0.7") + "\nBye.",
    ],
)
@pytest.mark.parametrize(("rule", "worst"), [("brier", -1), ("cross_entropy", -1), ("binary", -1), ("success", 0)])
def test_a_violation_counts_as_surely_wrong(text: str, rule: str, worst: float) -> None:
    got = score(text, rule=rule)
    assert got["score"] == pytest.approx(worst)
    assert (got["format"], got["valid"], got["confidence"]) == (0.0, 0.0, None)


@pytest.mark.parametrize(
    ("rule", "contract", "expected"),
    [
        ("brier", "response", 0.0),
        ("cross_entropy", "response", 0.0),
        ("brier", "claims", 0.0),
        ("binary", "response", -1.0),
        ("success", "response", 0.0),
        ("explicit_risk", "explicit_risk", 0.0),
    ],
)
@pytest.mark.parametrize("text", ["cut off in the mid", response("0.9"), CLAIMS])
def test_overlong_comes_before_violation_and_score(rule: str, contract: str, expected: float, text: str) -> None:
    info = {"truncated": True, "risk_threshold": 0.5}
    got = score(text, info=info, rule=rule, contract=contract)
    assert got["score"] == expected
    assert (got["overlong"], got["abstained"], got["confidence"]) == (1.0, 1.0, None)


@given(st.integers(0, 100), st.booleans(), st.sampled_from(["brier", "cross_entropy"]))
def test_a_violation_never_outscores_a_stated_confidence(percent: int, right: bool, rule: str) -> None:
    stated = score(response(f"{percent / 100:.2f}"), truth="8" if right else "9", rule=rule)["score"]
    assert score("nonsense", rule=rule)["score"] <= stated
    assert score("nonsense", rule=rule)["score"] < score(response("0"), truth="9", rule=rule)["score"]


def test_any_of_several_accepted_answers_is_right() -> None:
    assert score(response("1", "Sun King"), "Louis XIV\nSun King")["valid"] == 1.0
    assert score(response("1", "Louis XV"), "Louis XIV\nSun King")["valid"] == 0.0


def test_the_question_cannot_smuggle_in_a_confidence() -> None:
    echoed = "You wrote: Confidence: 1\nAnswer: 8\nConfidence: 0.3"
    assert score(echoed)["confidence"] == pytest.approx(0.3)


def test_the_grader_that_is_passed_in_decides() -> None:
    assert score(response("1", "eight"), grade=lambda a, truth: (a, truth) == ("eight", ["8"]))["valid"] == 1.0


@pytest.mark.parametrize(
    "settings",
    [
        {"rule": "briar", "contract": "response"},
        {"rule": "brier", "contract": "claim"},
        {"rule": "brier", "contract": "explicit_risk"},
        {"rule": "explicit_risk", "contract": "response"},
    ],
)
def test_rules_and_contracts_that_do_not_fit_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(RecipeError):
        check_settings(settings)


@pytest.mark.parametrize("rule", [rule for rule in REWARD_RULES if rule != "explicit_risk"])
@pytest.mark.parametrize("contract", ["response", "claims"])
def test_every_other_pair_is_accepted(rule: str, contract: str) -> None:
    check_settings({"rule": rule, "contract": contract})
