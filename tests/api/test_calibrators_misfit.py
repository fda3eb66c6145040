"""Where a calibrator was made of other requests or of another model, nothing is promised."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calibrated_server import FINGERPRINT, PATHS, SCRIPT, answer
from demur.api.app import create_app
from demur.calibration.errors import CalibratorFileError
from demur.calibration.store import CalibratorStore
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings
from served_calibrators import calibrator, file


def test_without_a_calibrator_nothing_is_promised(served) -> None:
    reply = served.server.ask("sure", max_error=0.2)
    assert (reply.status_code, reply.json()["error"]["type"]) == (409, "guarantee_unavailable")
    assert "no calibrator is loaded" in reply.json()["error"]["message"]
    assert served.server.ask("sure", confidence_source="calibrated").status_code == 400


BOTH = {"kind": "logistic", "intercept": 0.0, "weights": [0.5, 0.5], "missing": [0.0, 0.0]}
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


def test_calibrators_of_votes_leave_single_answers_alone_and_the_nearest_one_is_named(served, tmp_path) -> None:
    identity = {"kind": "identity", "signal": "verbalized"}
    votes = [
        file(tmp_path / f"b{k}.json", served.conditions(samples=k), signals=["verbalized", "agreement"], map=BOTH)
        for k in (3, 5)
    ]
    server = served.with_files(file(tmp_path / "a.json", served.conditions(), map=identity), *votes)
    for fields in ({"temperature": 0.5}, {"contract": "claims"}):
        assert "notice" not in answer(server, PATHS[0], "sure", **fields)
    refused = server.call("POST", PATHS[0], json={"question": "sure", "temperature": 0.5, "max_error": 0.2})
    assert (
        "a.json: this request differs from its graded answers in temperature 0.5" in refused.json()["error"]["message"]
    )
    assert "notice" not in answer(server, PATHS[0], "sure", samples=5)
    notice = answer(server, PATHS[0], "sure", samples=4)["notice"]
    assert "b3.json: this request differs from its graded answers in samples 4 instead of 3" in notice
    stopped = answer(server, PATHS[0], "sure", samples=5, stopping="decided")["notice"]
    assert "b5.json: this request differs from its graded answers in stopping decided instead of none" in stopped


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
