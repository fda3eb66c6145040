"""A calibrator decides where it fits the request, keeps an error rate on demand, and promises nothing elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from demur.api.app import create_app
from demur.calibration.errors import CalibratorFileError
from demur.calibration.store import CalibratorStore
from demur.engine.scripted import ScriptedEngine
from demur.engine.scripted_critic import ScriptedCritic
from demur.manifest import Manifest
from demur.settings import Settings
from served_calibrators import calibrator, file, level

FINGERPRINT = "files:one"
SURE = "Two.\nAnswer: 2\nConfidence: 0.9"
DOUBTFUL = "Two.\nAnswer: 2\nConfidence: 0.5"
SILENT = "Two.\nAnswer: 2"
CLAIMS = (
    'Let me see.\nSolution:\n<Confidence value=0.9 text="a">1 + 1 = 2</Confidence>\n'
    '<Confidence value=0.5 text="b">2 + 2 = 4</Confidence>\nAnswer:4'
)
SCRIPT = {"sure": SURE, "doubtful": DOUBTFUL, "silent": SILENT, "claims": CLAIMS}
AT_09, AT_05 = 0.524633113, 0.268941421
PATHS = ["/v1/answers", "/v1/chat/completions"]


class Served:
    """A server in process with calibrators for the requests it is asked."""

    def __init__(self, make: Any, folder: Path) -> None:
        self._make = make
        self.folder = folder
        self.server = make(ScriptedEngine(SCRIPT))

    def conditions(self, **fields: Any) -> dict[str, Any]:
        reply = self.server.ask("sure", include_conditions=True, **fields)
        assert reply.status_code == 200, reply.text
        return reply.json()["conditions"]

    def with_files(self, *paths: Path, critic: ScriptedCritic | None = None, **server: Any) -> Any:
        described = {"name": "demur-test", "contracts": ["response", "claims", "explicit_risk"]}
        described |= {"calibrated": True, **({"critic": {"path": "critic"}} if critic else {})}
        built = self._make(ScriptedEngine(SCRIPT))
        app = create_app(
            built.engine,
            Manifest.model_validate(described),
            Settings(**server),
            critic=critic,
            calibrators=CalibratorStore(paths, FINGERPRINT),
            fingerprint=FINGERPRINT,
        )
        return type(built)(app, built.engine)

    def fitting(self, asked: dict[str, Any] | None = None, server: dict[str, Any] | None = None, **changes: Any) -> Any:
        path = file(
            self.folder / f"c{len(list(self.folder.iterdir()))}.json", self.conditions(**asked or {}), **changes
        )
        return self.with_files(path, **server or {})


@pytest.fixture
def served(make, tmp_path) -> Served:
    return Served(make, tmp_path)


def answer(server: Any, path: str, question: str, **fields: Any) -> Any:
    reply = server.ask(question, **fields) if path == PATHS[0] else server.chat(question, **fields)
    assert reply.status_code == 200, reply.text
    return reply.json() if path == PATHS[0] else reply.json()["choices"][0]["demur"]


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


def test_without_a_calibrator_nothing_is_promised(served) -> None:
    reply = served.server.ask("sure", max_error=0.2)
    assert (reply.status_code, reply.json()["error"]["type"]) == (409, "guarantee_unavailable")
    assert "no calibrator is loaded" in reply.json()["error"]["message"]
    assert served.server.ask("sure", confidence_source="calibrated").status_code == 400


MISFITS = {
    "temperature": {"temperature": 0.7},
    "top_p": {"top_p": 0.5},
    "max_tokens": {"max_tokens": 77},
    "samples": {"samples": 3},
    "turns": {
        "messages": [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "hi"},
            {"role": "user", "content": "sure"},
        ]
    },
    "system": {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "sure"}]},
    "contract": {"contract": "claims", "granularity": "response"},
    "granularity": {"contract": "claims"},
}


@pytest.mark.parametrize("fields", MISFITS.values(), ids=MISFITS)
def test_a_request_that_differs_gets_the_raw_number_a_notice_and_no_promise(served, fields) -> None:
    server = served.fitting()
    body = {"question": "sure"} | fields
    if "messages" in fields:
        del body["question"]
    found = server.call("POST", PATHS[0], json=body).json()
    assert found["confidence_source"] == "verbalized"
    assert found["calibrated"] is True  # as the model was trained
    assert found["notice"].startswith("no calibrator was applied: ")
    refused = server.call("POST", PATHS[0], json=body | {"max_error": 0.2})
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "guarantee_unavailable")
    assert refused.json()["error"]["message"] == found["notice"]


def test_a_request_that_differs_loses_nothing_but_the_promise_where_the_map_leaves_the_number_as_it_is(served) -> None:
    server = served.fitting(map={"kind": "identity", "signal": "verbalized"})
    body = {"question": "sure", "temperature": 0.5}
    found = server.call("POST", PATHS[0], json=body).json()
    assert (found["confidence_source"], found.get("notice")) == ("verbalized", None)
    named = server.call("POST", PATHS[0], json=body | {"confidence_source": "calibrated"}).json()
    assert "temperature 0.5" in named["notice"]
    refused = server.call("POST", PATHS[0], json=body | {"max_error": 0.2})
    assert "temperature 0.5" in refused.json()["error"]["message"]


def test_a_notice_names_the_field_and_both_values(served) -> None:
    found = answer(served.fitting(), PATHS[0], "sure", temperature=0.7)
    assert "temperature 0.7 instead of 1" in found["notice"]


def test_an_uncalibrated_model_is_called_calibrated_only_where_one_was_applied(served, make, tmp_path) -> None:
    path = file(tmp_path / "c.json", served.conditions())
    plain = Manifest(name="demur-test", contracts=("response",))
    forced_never = Settings(force_contract="never", prompt_wording="trained")
    store = CalibratorStore([path], FINGERPRINT)
    built = make(ScriptedEngine(SCRIPT))
    server = type(built)(
        create_app(built.engine, plain, forced_never, calibrators=store, fingerprint=FINGERPRINT), built.engine
    )
    assert server.ask("sure").json()["calibrated"] is True
    assert server.ask("sure", top_p=0.5).json()["calibrated"] is False


def test_a_calibrator_of_another_model_is_never_applied(served) -> None:
    server = served.fitting(fingerprint="files:other")
    found = answer(server, PATHS[0], "sure")
    assert (found["confidence"], found["confidence_source"]) == (0.9, "verbalized")
    assert "another model" in found["notice"]
    assert server.ask("sure", max_error=0.2).status_code == 409
    card = server.call("GET", "/v1/models").json()["data"][0]["demur"]["calibrators"][0]
    assert (card["fits"], "files:other" in card["reason"]) == (False, True)


def test_a_lost_calibrator_is_missed_even_beside_one_that_changes_nothing(served, tmp_path) -> None:
    identity = {"kind": "identity", "signal": "verbalized"}
    kept = file(tmp_path / "a.json", served.conditions(contract="claims"), map=identity)
    lost = file(tmp_path / "b.json", served.conditions(), fingerprint="files:other")
    assert "notice" not in answer(served.with_files(kept), PATHS[0], "sure")
    assert answer(served.with_files(kept, lost), PATHS[0], "sure")["notice"]


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


ANY_VALUE = st.one_of(
    st.none(), st.integers(0, 5), st.floats(0, 2), st.sampled_from(["one", "several", "majority", "x"])
)


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_is_promised_where_any_condition_differs(served, data) -> None:
    """Whatever one field of the graded answers is, a request with another gets the raw number and no promise."""
    asked = served.conditions()
    name = data.draw(st.sampled_from(sorted(set(asked) - {"source", "contract", "granularity"})))
    value = data.draw(ANY_VALUE)
    store = CalibratorStore((), FINGERPRINT)
    try:
        made = calibrator(asked | {name: value})
    except CalibratorFileError:  # what makes no calibrator is served under no promise either
        return
    path = served.folder / "drawn.json"
    path.write_text(json.dumps(made.model_dump(mode="json")), encoding="utf-8")
    try:
        store = CalibratorStore([path], FINGERPRINT)
    except CalibratorFileError:  # refused at the start
        return
    differs = value != asked[name]
    assert store.fitting[0].misfit(asked) is not None if differs else store.fitting[0].misfit(asked) is None
    server = served.with_files(path)
    assert server.ask("sure", max_error=0.2).status_code == (409 if differs else 200)
