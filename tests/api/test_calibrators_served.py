"""A calibrator decides where it fits the request and keeps an error rate on demand."""

from pathlib import Path
from typing import Any

import pytest

from calibrated_server import AT_05, AT_09, FINGERPRINT, PATHS, answer
from demur import prompts
from demur.engine.scripted_critic import ScriptedCritic
from served_calibrators import file, level


@pytest.mark.parametrize("path", PATHS)
def test_a_fitting_calibrator_decides_by_default(served, path) -> None:
    server = served.fitting()
    found = answer(server, path, "sure", risk_threshold=0.6)
    assert (found["decision"], found["reason"]) == ("abstain", "below_threshold")
    assert found["confidence"] == pytest.approx(AT_09)
    assert (found["confidence_source"], found["calibrated"]) == ("calibrated", True)
    assert "notice" not in found
    assert "guarantee" not in found
    raw = answer(server, path, "sure", risk_threshold=0.6, confidence_source="verbalized")
    assert (raw["decision"], raw["confidence"], raw["confidence_source"]) == ("answer", 0.9, "verbalized")


def test_an_abstention_names_the_error_rate_that_was_asked_for(served) -> None:
    message = served.fitting().chat("doubtful", max_error=0.15).json()["choices"][0]["message"]
    assert message["content"].endswith("below the 0.50 from which on at most 10 % are wrong.")


@pytest.mark.parametrize("path", PATHS)
def test_max_error_is_kept_by_the_certified_threshold_and_names_its_graded_answers(served, path) -> None:
    server = served.fitting()
    given_, withheld = (answer(server, path, q, max_error=0.15) for q in ("sure", "doubtful"))
    assert (given_["decision"], withheld["decision"], withheld["reason"]) == ("answer", "abstain", "below_threshold")
    for found in (given_, withheld):
        assert found["risk_threshold"] == 0.5
        promise = found["guarantee"]
        assert promise["calibration"].pop("id").startswith("cal_")
        assert promise == {
            "max_error": 0.1,
            "delta": 0.1,
            "threshold": 0.5,
            "exact": True,
            "expected_coverage": 0.4,
            "calibration": {
                "rows": 300,
                "made": "2026-11-20T12:00:00Z",
                "kind": "split",
                "questions": "sums about eggs",
            },
        }


@pytest.mark.parametrize(
    ("asked", "level_", "threshold"), [(0.1, 0.1, 0.5), (0.199, 0.1, 0.5), (0.2, 0.2, 0.3), (1, 0.2, 0.3)]
)
def test_it_is_served_by_the_greatest_level_not_above_what_is_asked(served, asked, level_, threshold) -> None:
    promise = answer(served.fitting(), PATHS[0], "sure", max_error=asked)["guarantee"]
    assert (promise["max_error"], promise["threshold"]) == (level_, threshold)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("asked", [0, 0.01, 0.05, 0.0999])
def test_what_no_threshold_keeps_is_refused_with_the_least_that_one_does(served, path, asked) -> None:
    server = served.fitting()
    reply = server.ask("sure", max_error=asked) if path == PATHS[0] else server.chat("sure", max_error=asked)
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (409, "max_error")
    assert error["code"] == "guarantee_unavailable"
    assert error["smallest_max_error"] == 0.1
    assert "ask for 0.1" in error["message"]
    assert not server.engine.drawn


def test_where_nothing_at_all_is_certified_it_says_why(served) -> None:
    server = served.fitting(guarantees=[level(0.1, None, "3 of the 38 most confident graded answers are wrong")])
    reply = server.ask("sure", max_error=0.1)
    assert reply.status_code == 409
    assert "3 of the 38" in reply.json()["error"]["message"]
    assert "smallest_max_error" not in reply.json()["error"]


def voted(served, samples: int, *levels, **fields: Any) -> Path:
    conditions = served.conditions(samples=samples, **fields)
    return file(served.folder / f"votes-{samples}.json", conditions, guarantees=list(levels))


def test_a_vote_that_keeps_what_one_sample_cannot_is_named(served) -> None:
    alone = file(served.folder / "alone.json", served.conditions())
    votes = [voted(served, k, level(0.05, least)) for k, least in ((2, None), (4, 0.8), (8, 0.7))]
    server = served.with_files(alone, *votes)
    error = server.ask("sure", max_error=0.05).json()["error"]
    assert error["message"].endswith("ask for 0.1 or more, or with samples: 4")
    assert error["smallest_max_error"] == 0.1
    assert server.ask("sure", max_error=0.05, samples=4).json()["guarantee"]["threshold"] == 0.8
    error = server.ask("sure", max_error=0.05, samples=2).json()["error"]
    assert "carry no promise: too few; ask with samples: 4" in error["message"]
    assert "samples" not in server.ask("sure", max_error=0.02).json()["error"]["message"]


def test_a_vote_is_named_as_it_has_to_be_asked_for(served) -> None:
    alone = file(served.folder / "alone.json", served.conditions())
    vote = voted(served, 4, level(0.05, 0.8), selection="majority", stopping="confident", error_budget=0.05)
    server = served.with_files(alone, vote)
    message = server.ask("sure", max_error=0.05).json()["error"]["message"]
    assert message.endswith("or with samples: 4, selection: majority, stopping: confident, error_budget: 0.05")
    fields = {"samples": 4, "selection": "majority", "stopping": "confident", "error_budget": 0.05}
    assert server.ask("sure", max_error=0.05, **fields).status_code == 200


def test_what_was_asked_otherwise_is_named_though_it_is_the_default(served) -> None:
    plain = voted(served, 2, level(0.05, None), selection="majority")
    server = served.with_files(plain, voted(served, 4, level(0.05, 0.8)))
    message = server.ask("sure", max_error=0.05, samples=2, selection="majority").json()["error"]["message"]
    assert message.endswith("ask with samples: 4, selection: majconf")
    alone = file(served.folder / "alone.json", served.conditions())
    server = served.with_files(alone, plain)
    message = server.ask("sure", max_error=0.1, samples=2, selection="majority").json()["error"]["message"]
    assert message.endswith("ask with samples: 1")


def test_a_vote_of_another_kind_of_request_is_not_named(served) -> None:
    alone = file(served.folder / "alone.json", served.conditions())
    server = served.with_files(alone, voted(served, 4, level(0.05, 0.8), temperature=0.5))
    assert server.ask("sure", max_error=0.05).json()["error"]["message"].endswith("ask for 0.1 or more")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"risk_threshold": 0.5}, "max_error"),
        ({"risk_threshold": 0}, "max_error"),
        ({"contract": "explicit_risk"}, "max_error"),
        ({"confidence_source": "verbalized"}, "max_error"),
    ],
)
def test_contradictions_are_named(served, path, fields, param) -> None:
    server = served.fitting()
    ask = server.ask if path == PATHS[0] else server.chat
    reply = ask("sure", max_error=0.2, **fields)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)


@pytest.mark.parametrize("value", [-0.1, 1.1, "0.1", None, True])
def test_only_a_share_is_one(served, value) -> None:
    assert served.fitting().ask("sure", max_error=value).status_code == 400


def test_models_say_what_calibrates_them(served) -> None:
    card = served.fitting().call("GET", "/v1/models").json()["data"][0]["demur"]
    assert card["fingerprint"] == FINGERPRINT
    assert "calibrated" in card["confidence_sources"]
    (one,) = card["calibrators"]
    assert (one["contract"], one["granularity"], one["rows"], one["signals"]) == (
        "response",
        "response",
        500,
        ["verbalized"],
    )
    assert one["questions"] == "sums about eggs"
    assert one["after"]["auc"] == {"value": 0.8, "low": 0.7, "high": 0.9}
    assert one["age_seconds"] >= 0
    assert (one["exact"], one["smallest_max_error"]) == (True, 0.1)
    assert [(each["max_error"], each["threshold"]) for each in one["levels"]] == [(0.1, 0.5), (0.2, 0.3)]


def test_an_approximate_one_is_marked(served) -> None:
    approximate = {"mode": "cross-fit", "exact": False, "rows": 500, "delta": 0.1, "simultaneous": False, "look": 0}
    server = served.fitting(certification=approximate | {"seed": 0})
    promise = answer(server, PATHS[0], "sure", max_error=0.1)["guarantee"]
    assert (promise["exact"], promise["calibration"]["kind"]) == (False, "cross-fit")


def test_a_certified_threshold_of_zero_lets_no_answer_through_without_a_confidence(served) -> None:
    """It was certified on answers that have one; at a risk threshold of 0 the others answer, too."""
    server = served.fitting(guarantees=[level(0.3, 0.0)])
    found = answer(server, PATHS[0], "silent", max_error=0.3)
    assert (found["decision"], found["reason"], found["answer"]) == ("abstain", "confidence_missing", None)
    assert found["text"] is None
    assert answer(server, PATHS[0], "silent", risk_threshold=0)["decision"] == "answer"
    assert answer(server, PATHS[0], "doubtful", max_error=0.3)["decision"] == "answer"


def test_a_stream_shows_nothing_that_the_guarantee_withholds(served, events) -> None:
    server = served.fitting(guarantees=[level(0.3, 0.0)])
    shown = events(server.ask("silent", max_error=0.3, stream=True).text)
    assert not [name for name, _ in shown if name in ("delta", "claim")]
    assert shown[-1][1]["decision"] == "abstain"


def test_claims_have_a_calibrator_of_their_own_live_and_in_the_reply(served, events) -> None:
    server = served.fitting({"contract": "claims"})
    shown = events(server.ask("claims", contract="claims", max_error=0.1, stream=True).text)
    live = [(data["confidence"], data["decision"]) for name, data in shown if name == "claim"]
    found = shown[-1][1]
    assert live == [(claim["confidence"], claim["decision"]) for claim in found["claims"]]
    assert [decision for _, decision in live] == ["assert", "highlight"]
    assert [confidence for confidence, _ in live] == pytest.approx([AT_09, AT_05])
    assert found["confidence"] == pytest.approx(AT_05)
    assert (found["confidence_source"], found["guarantee"]["max_error"]) == ("calibrated", 0.1)


def test_whole_answers_of_the_claims_contract_are_calibrated_by_their_aggregate(served) -> None:
    asked = {"contract": "claims", "granularity": "response"}
    found = answer(served.fitting(asked), PATHS[0], "claims", **asked)
    assert found["confidence"] == pytest.approx(AT_05)
    assert [claim["confidence"] for claim in found["withheld"]["claims"]] if found["withheld"] else True
    other = answer(served.fitting(asked), PATHS[0], "claims", **asked, aggregation="product")
    assert "aggregation product instead of min" in other["notice"]


def test_a_vote_is_calibrated_by_its_own_calibrator(served) -> None:
    asked = {"samples": 3, "selection": "majority"}
    server = served.fitting(asked)
    assert answer(server, PATHS[0], "sure", **asked)["confidence"] == pytest.approx(AT_09)
    assert "selection majconf instead of majority" in answer(server, PATHS[0], "sure", samples=3)["notice"]
    assert "samples" in answer(server, PATHS[0], "sure")["notice"]
    (card,) = server.call("GET", "/v1/models").json()["data"][0]["demur"]["calibrators"]
    assert (card["samples"], card["selection"], card["stopping"]) == (3, "majority", "none")


def test_a_critics_calibrator_asks_the_critic_by_itself(served, tmp_path) -> None:
    conditions = served.conditions() | {"source": "critic", "aggregation": None}
    path = file(tmp_path / "critic.json", conditions, signals=["critic"])
    server = served.with_files(path, critic=ScriptedCritic({}, start=0.9))
    found = answer(server, PATHS[0], "doubtful", include_signals=["critic", "verbalized", "calibrated"])
    assert found["confidence"] == pytest.approx(AT_09)
    assert {name: one["value"] for name, one in found["signals"].items()} == {
        "critic": 0.9,
        "verbalized": 0.5,
        "calibrated": pytest.approx(AT_09),
    }
    assert "no critic" in answer(served.with_files(path), PATHS[0], "sure")["notice"]


def test_log_probabilities_that_were_asked_for_are_shown_whatever_a_calibrator_takes(served) -> None:
    server = served.fitting()
    found = server.chat("sure", logprobs=True, top_logprobs=2, risk_threshold=0).json()["choices"][0]
    assert found["demur"]["confidence_source"] == "calibrated"
    assert found["logprobs"]["content"]
    assert server.engine.drawn[-1].sampling.logprobs == 2


def test_several_looks_are_told_with_the_chance_of_all(served) -> None:
    looked = {"mode": "split", "exact": True, "rows": 300, "delta": 0.1, "simultaneous": False, "look": 1, "seed": 0}
    levels = [level(0.2, 0.3) | {"delta": 0.05}]
    found = answer(served.fitting(certification=looked, guarantees=levels), PATHS[0], "sure", max_error=0.2)
    assert found["guarantee"]["delta"] == 0.1


def test_an_estimate_is_no_promise_in_the_words_of_an_abstention(served) -> None:
    rough = {
        "mode": "cross-fit",
        "exact": False,
        "rows": 300,
        "delta": 0.1,
        "simultaneous": False,
        "look": 0,
        "seed": 0,
    }
    server = served.fitting(certification=rough)
    assert "by estimate" in server.chat("doubtful", max_error=0.1).json()["choices"][0]["message"]["content"]


def test_a_signal_that_no_graded_answer_lacked_is_not_taken_for_an_even_chance(served) -> None:
    def decided(missing: float) -> Any:
        both = {"kind": "logistic", "intercept": 3.0, "weights": [1.0, 1.0], "missing": [0.0, missing]}
        server = served.fitting({"include_signals": ["p_true"]}, signals=["verbalized", "p_true"], map=both)
        return answer(server, PATHS[0], "sure", include_signals=["p_true"])  # which this engine cannot tell

    unknown = decided(0.0)
    assert unknown["signals"]["p_true"]["value"] is None
    assert (unknown["confidence"], unknown["decision"]) == (None, "abstain")
    assert (decided(-2.0)["confidence_source"], decided(-2.0)["confidence"] is None) == ("calibrated", False)


def test_another_question_about_an_answer_is_another_signal(served, monkeypatch) -> None:
    both = {"kind": "logistic", "intercept": 0.0, "weights": [1.0, 0.5], "missing": [0.0, -1.0]}
    server = served.fitting({"include_signals": ["p_true"]}, signals=["verbalized", "p_true"], map=both)
    plain = served.fitting({"include_signals": ["p_true"]})
    assert "notice" not in answer(server, PATHS[0], "sure")
    monkeypatch.setattr(prompts, "IS_IT_RIGHT", "Is it right, do you think?")
    assert "p_true_question" in answer(server, PATHS[0], "sure")["notice"]
    assert "notice" not in answer(plain, PATHS[0], "sure")


def test_a_signal_that_no_server_has_is_named(served) -> None:
    both = {"kind": "logistic", "intercept": 0, "weights": [1, 1], "missing": [0, 0]}
    server = served.fitting(signals=["verbalized", "tea_leaves"], map=both)
    assert "tea_leaves" in answer(server, PATHS[0], "sure")["notice"]


def test_the_first_that_fits_is_applied(served, tmp_path) -> None:
    identity = {"kind": "identity", "signal": "verbalized"}
    plain = file(tmp_path / "a.json", served.conditions(), map=identity)
    doubting = file(tmp_path / "b.json", served.conditions())
    claims = file(tmp_path / "d.json", served.conditions(contract="claims"))
    assert answer(served.with_files(claims, plain, doubting), PATHS[0], "sure")["confidence"] == 0.9
    assert answer(served.with_files(doubting, plain), PATHS[0], "sure")["confidence"] == pytest.approx(AT_09)


@pytest.mark.parametrize(("least", "expected"), [(0.4, (200, 0.1)), (0.6, (403, None))])
def test_a_least_threshold_holds_against_a_low_certified_one(served, least, expected) -> None:
    """Never by raising the threshold, which was not tested: by a stricter level, or not at all."""
    server = served.fitting(server={"min_risk_threshold": least})
    reply = server.ask("sure", max_error=0.2)
    status, max_error = expected
    assert reply.status_code == status
    if max_error is not None:
        assert reply.json()["guarantee"]["max_error"] == max_error
    else:
        assert reply.json()["error"]["param"] == "max_error"


def test_the_operators_own_source_comes_first_and_max_error_is_calibrated_all_the_same(served, tmp_path) -> None:
    path = file(tmp_path / "c.json", served.conditions())
    server = served.with_files(path, critic=ScriptedCritic({}, start=0.7), confidence_source="critic")
    assert answer(server, PATHS[0], "sure")["confidence_source"] == "critic"
    assert answer(server, PATHS[0], "sure", max_error=0.2)["confidence_source"] == "calibrated"
