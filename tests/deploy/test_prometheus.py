"""The real Prometheus reads our files, and every panel shows something of a real server."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

import served_calibrators as files
from demur.calibration.versions import shadow_of
from live import free_port

pytestmark = pytest.mark.operations

MISSING = "these tests need Prometheus: run scripts/setup-operations"
DEADLINE = 30.0


def program(name: str) -> str:
    """The path of one of Prometheus's programs; skips, but never in CI."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return found


def promtool(*arguments: str, cwd: Path) -> str:
    result = subprocess.run([program("promtool"), *arguments], capture_output=True, text=True, cwd=cwd, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_configuration_and_the_rules_are_valid(deploy: Path) -> None:
    assert "SUCCESS" in promtool("check", "config", "prometheus.yml", cwd=deploy / "prometheus")


def test_alerts_fire_for_what_they_are_for_and_for_nothing_else(deploy: Path) -> None:
    assert "SUCCESS" in promtool("test", "rules", "rules.test.yml", cwd=deploy / "prometheus")


def test_every_alert_has_such_a_test(deploy: Path) -> None:
    rules = (deploy / "prometheus" / "rules.yml").read_text()
    tests = yaml.safe_load((deploy / "prometheus" / "rules.test.yml").read_text())["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    alerts = set(re.findall(r"alert: (\w+)", rules))
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == alerts
    assert {case["alertname"] for case in cases if not case.get("exp_alerts")} >= alerts


@contextmanager
def process(*command: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        try:
            yield running
        finally:
            running.terminate()
            running.wait(20)


@contextmanager
def demur_serve(*words: str) -> Iterator[str]:
    """The address of a server of the scripted engine, all of whose answers are audits."""
    command = (sys.executable, "-m", "demur", "serve", "--engine", "scripted", "--port", "0", *words)
    with process("env", "DEMUR_AUDIT_SHARE=1", *command) as server:
        assert server.stdout is not None
        address = re.search(r"http://\S+", server.stdout.readline())
        assert address
        yield address[0]


def _calibrator_with_a_shadow(folder: Path) -> Path:
    """One that leaves confidences as they are stated, for answers of the scripted engine, and beside it one that halves
    their odds and more."""
    database = folder / "first.db"
    with demur_serve("--feedback-db", str(database)) as address:
        asked = {"question": "Which is larger?", "contract": "response"}
        httpx.post(f"{address}/v1/answers", json=asked, timeout=DEADLINE).raise_for_status()
    with sqlite3.connect(database) as db:
        (conditions,) = db.execute("select conditions from answers").fetchone()
        (fingerprint,) = db.execute("select fingerprint from epochs").fetchone()
    served = folder / "calibrator.json"
    for path, shape in ((served, {"kind": "identity", "signal": "verbalized"}), (shadow_of(served), files.DOUBTS)):
        files.file(path, json.loads(conditions), fingerprint=fingerprint, map=shape)
    return served


def until(condition: Callable[[], Any]) -> Any:
    """What `condition` gives once that is true, or in the end."""
    end = time.monotonic() + DEADLINE
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.2)
    return found


@pytest.mark.timeout(300)
def test_every_panel_shows_something_of_a_real_server(deploy: Path, tmp_path: Path) -> None:
    config = yaml.safe_load((deploy / "prometheus" / "prometheus.yml").read_text())
    (job,) = config["scrape_configs"]
    del job["dns_sd_configs"]
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(deploy / "prometheus" / "rules.yml")]
    calibrator = _calibrator_with_a_shadow(tmp_path)
    with demur_serve("--feedback-db", str(tmp_path / "feedback.db"), "--calibrator", str(calibrator)) as address:
        job["static_configs"] = [{"targets": [address.removeprefix("http://")]}]
        (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
        port = free_port()
        with process(
            program("prometheus"),
            f"--config.file={tmp_path / 'prometheus.yml'}",
            f"--storage.tsdb.path={tmp_path / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ):
            _ask_until_it_is_seen(address, f"http://127.0.0.1:{port}")
            _compare(deploy, f"http://127.0.0.1:{port}")


def _query(prometheus: str, expression: str) -> list[Any]:
    reply = httpx.get(f"{prometheus}/api/v1/query", params={"query": expression})
    assert reply.status_code == 200, reply.text
    return reply.json()["data"]["result"]


def _ask_until_it_is_seen(server: str, prometheus: str) -> None:
    """Answers and abstentions, until two scrapes saw them grow."""
    body = {"question": "How many moons does Saturn have?", "contract": "response"}

    def seen() -> bool:
        for t in (0.0, 0.9):
            httpx.post(f"{server}/v1/answers", json=body | {"risk_threshold": t}, timeout=DEADLINE).raise_for_status()
        sure = {"question": "Which is larger, 9.11 or 9.9?", "contract": "response"}
        httpx.post(f"{server}/v1/answers", json=sure, timeout=DEADLINE).raise_for_status()
        for item in httpx.get(f"{server}/v1/feedback/queue", params={"limit": 20}).json()["items"]:
            given = {"answer_id": item["answer_id"], "lease": item["lease"], "correct": False}
            httpx.post(f"{server}/v1/feedback", json=given).raise_for_status()
        try:
            return len(_query(prometheus, 'rate(demur_answers_total{decision="abstain"}[1m]) > 0')) > 0
        except httpx.TransportError:
            return False

    assert until(seen)


def _compare(deploy: Path, prometheus: str) -> None:
    board = json.loads((deploy / "grafana" / "dashboard.json").read_text())
    for panel in board["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$__rate_interval", "1m").replace("$job", ".*")
            if "demur_refused_total" not in expression:  # nobody is turned away here
                assert until(lambda expression=expression: _query(prometheus, expression)), panel["title"]
    groups = httpx.get(f"{prometheus}/api/v1/rules").json()["data"]["groups"]
    assert {rule["health"] for group in groups for rule in group["rules"]} <= {"ok", "unknown"}
    assert not [rule["lastError"] for group in groups for rule in group["rules"] if rule.get("lastError")]
    assert until(lambda: _query(prometheus, "demur:abstentions:share10m"))
