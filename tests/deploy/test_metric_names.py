"""What dashboards, alerts and autoscalers ask for is what the server exposes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

SERIES = re.compile(r"\b(demur_[a-z0-9_]+)(?:\{([^}]*)\})?")
RECORDED = re.compile(r"\bdemur:[a-z0-9_:]+")
MATCHER = re.compile(r'([a-zA-Z_]+)\s*(?:=~|!~|!=|=)\s*"')
GROUPING = re.compile(r"\bby \(([^)]*)\)")
FROM_PROMETHEUS = {"job", "instance", "namespace", "pod", "le"}


def rules(deploy: Path) -> list[dict[str, Any]]:
    groups = yaml.safe_load((deploy / "prometheus" / "rules.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard_queries(deploy: Path) -> list[str]:
    board = json.loads((deploy / "grafana" / "dashboard.json").read_text())
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def adapter_queries(deploy: Path) -> Iterator[str]:
    values = yaml.safe_load((deploy / "kubernetes" / "monitoring" / "adapter-values.yaml").read_text())
    for rule in values["rules"]["custom"]:
        yield rule["seriesQuery"]
        yield rule["metricsQuery"].replace("<<.LabelMatchers>>", "")


@pytest.fixture(scope="module")
def queries(deploy: Path) -> list[str]:
    return [*dashboard_queries(deploy), *(rule["expr"] for rule in rules(deploy)), *adapter_queries(deploy)]


def test_every_series_in_a_query_is_exposed_with_the_labels_that_are_asked_for(queries, exposed) -> None:
    found = [(name, set(MATCHER.findall(labels))) for query in queries for name, labels in SERIES.findall(query)]
    assert len(found) > 30
    for name, labels in found:
        assert name in exposed, name
        assert labels <= exposed[name] | FROM_PROMETHEUS, (name, labels)


def test_every_recorded_series_in_a_query_is_recorded(queries, deploy) -> None:
    recorded = {rule["record"] for rule in rules(deploy) if "record" in rule}
    used = {name for query in queries for name in RECORDED.findall(query)}
    assert recorded
    assert recorded == used


def test_queries_group_by_labels_that_exist(queries, exposed) -> None:
    known = set().union(*exposed.values()) | FROM_PROMETHEUS
    for query in queries:
        for labels in GROUPING.findall(query):
            assert {label.strip() for label in labels.split(",")} - {"<<.GroupBy>>"} <= known, query


def test_label_values_in_queries_are_ones_the_server_writes(queries) -> None:
    written = {
        "decision": {"answer", "abstain"},
        "state": {"value", "missing", "invalid"},
        "endpoint": {"/v1/answers|/v1/chat/completions"},
    }
    matched = [
        pair for query in queries for pair in re.findall(r'(decision|state|endpoint)(?:=~|!=|=)"([^"]*)"', query)
    ]
    assert {label for label, _ in matched} == set(written)
    assert all(value in written[label] for label, value in matched)


def test_there_is_an_alert_for_everything_that_needs_somebody(deploy) -> None:
    alerts = {rule["alert"]: rule for rule in rules(deploy) if "alert" in rule}
    assert {
        "DemurAbstentionJump",
        "DemurUnreadableOutput",
        "DemurQueueFull",
        "DemurSlowFirstEvent",
        "DemurReplicaLost",
    } <= set(alerts)
    for alert in alerts.values():
        assert alert["labels"]["severity"] in {"warning", "critical"}
        assert alert["annotations"]["summary"]
        assert alert["annotations"]["description"]


def test_panels_are_numbered_apart_and_use_the_provisioned_source(deploy) -> None:
    board = json.loads((deploy / "grafana" / "dashboard.json").read_text())
    sources = yaml.safe_load((deploy / "grafana/provisioning/datasources/prometheus.yml").read_text())["datasources"]
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    assert {panel["datasource"]["uid"] for panel in board["panels"]} == {source["uid"] for source in sources}


def test_panels_do_not_overlap(deploy) -> None:
    board = json.loads((deploy / "grafana" / "dashboard.json").read_text())
    cells = [
        (x, y)
        for grid in (panel["gridPos"] for panel in board["panels"])
        for x in range(grid["x"], grid["x"] + grid["w"])
        for y in range(grid["y"], grid["y"] + grid["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
