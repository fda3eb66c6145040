"""A database that an earlier version kept answers in is taken over with all that is in it."""

from importlib.resources import files

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, insert, table, text
from sqlalchemy.sql.expression import column

from feedback.simulated import grade, row, write

OLD = "0001"
FIRST = row(1, 0.9, epoch=1, state="graded", correct=True, promise_error=0.2, promise_threshold=0.5)
ALARMED = {"name": "0123456789ab", "max_error": 0.2, "threshold": 0.5, "count": 90, "wrong": 40, "wealth": 30.0}
ALARMED |= {"weight": 40.0, "errors": 20.0, "peak": 41.0, "alpha": 0.025, "alarm_at": 1.8e9, "updated": 1.8e9}
EPOCH = {"id": 1, "started": 1.0, "audit_share": 1.0, "learn_share": 0.0, "model": "demur-test"}
EPOCH |= {"fingerprint": "0123456789ab"}
VERDICT = {"answer_id": FIRST["id"], "verdict": "right", "source": "audit", "grader": "g", "at": 1.8e9}


def _insert(connection, name: str, values: dict) -> None:
    import json

    plain = {key: json.dumps(one) if isinstance(one, dict | list) else one for key, one in values.items()}
    connection.execute(insert(table(name, *(column(key) for key in plain))), plain)


def _old(path: str) -> None:
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(files("demur.feedback") / "migrations"))
        config.attributes["connection"] = connection
        command.upgrade(config, OLD)
        for name, values in (("epochs", EPOCH), ("answers", FIRST), ("grades", VERDICT), ("drift", ALARMED)):
            _insert(connection, name, values)
        connection.execute(text("INSERT INTO tested (answer_id) VALUES (:id)"), {"id": FIRST["id"]})
    engine.dispose()


def test_answers_verdicts_and_alarms_stay_and_the_test_goes_on_as_it_was(keep, database) -> None:
    _old(database)
    server = keep(drift_max_error=0.2, risk_threshold=0.5)
    (found,) = server.summary()["drift"]
    assert (found["audits"], found["drifted_since"]) == (90, 1_800_000_000)
    assert found["processes"] == {"promise": 30.0 + 1 / 91}
    rows = server.call("POST", "/v1/feedback/refits", json={}).json()["rows"]
    assert [(one["answer_id"], one["correct"], one["judged"]) for one in rows] == [(FIRST["id"], True, False)]
    write(server, [row(2, 0.9)])
    grade(server, lambda item: False)
    (found,) = server.summary()["drift"]
    assert (found["audits"], found["wrong"]) == (91, 41)
