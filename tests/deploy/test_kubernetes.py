"""Manifests are valid for Kubernetes and right for this server; overlays are rendered where kubectl or kustomize is."""

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from demur.api_keys import KeyFile, make_key
from demur.serving.engine_args import parse_options
from demur.serving.server import check_exposure
from demur.settings import Settings

VERSION = "1.33.0"
OVERLAYS = ["cpu", "one-gpu", "many-gpus"]
CUSTOM = {
    "PodMonitor": ("monitoring.coreos.com/v1", {"selector", "podMetricsEndpoints"}),
    "PrometheusRule": ("monitoring.coreos.com/v1", {"groups"}),
}
MISSING = "neither kustomize nor kubectl is here to put the overlay together"
KUBERNETES = Path(__file__).parents[2] / "deploy" / "kubernetes"


def documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


@cache
def rendered(overlay: str) -> dict[str, dict[str, Any]]:
    """Kind -> manifest, as it would be applied. Local: no cluster is asked."""
    program = shutil.which("kustomize") or shutil.which("kubectl")
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    verb = "build" if program.endswith("kustomize") else "kustomize"
    command = [program, verb, str(KUBERNETES / overlay)]
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"KUBECONFIG": os.devnull}
    )
    assert (result.returncode, result.stderr) == (0, "")
    return {manifest["kind"]: manifest for manifest in yaml.safe_load_all(result.stdout)}


def pod(overlay: str) -> dict[str, Any]:
    return rendered(f"overlays/{overlay}")["Deployment"]["spec"]["template"]["spec"]


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    """What `demur keys create` makes."""
    file = KeyFile(tmp_path / "keys.json")
    file.change(lambda keys: (*keys, make_key("somebody")[0]))
    return file.path


@pytest.mark.parametrize("path", sorted((KUBERNETES / "base").glob("*.yaml")), ids=lambda path: path.stem)
def test_base_files_are_valid(path: Path) -> None:
    for manifest in documents(path):
        if manifest["kind"] != "Kustomization":
            kubernetes_validate.validate(manifest, VERSION, strict=True)


def test_every_file_is_used_by_its_kustomization() -> None:
    for kustomization in KUBERNETES.rglob("kustomization.yaml"):
        content = documents(kustomization)[0]
        named = {*content["resources"], *(patch["path"] for patch in content.get("patches", []))}
        here = {path.name for path in kustomization.parent.glob("*.yaml")} - {
            "kustomization.yaml",
            "adapter-values.yaml",
        }
        assert here == {name for name in named if name.endswith(".yaml")}, kustomization
        assert all((kustomization.parent / name).exists() for name in named)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_overlays_are_valid(overlay: str) -> None:
    manifests = rendered(f"overlays/{overlay}")
    assert {"Deployment", "Service", "PodDisruptionBudget", "HorizontalPodAutoscaler", "NetworkPolicy"} <= set(
        manifests
    )
    for manifest in manifests.values():
        kubernetes_validate.validate(manifest, VERSION, strict=True)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_pods_hold_no_privilege(overlay: str) -> None:
    spec = pod(overlay)
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == 10001
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"cpu", "memory"} <= set(container["resources"]["limits"])
    writable = {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
    assert writable == {"/tmp", "/home/demur", "/dev/shm"}
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_probes_ask_for_what_the_server_has(overlay: str, served_paths) -> None:
    (container,) = pod(overlay)["containers"]
    assert container["ports"] == [{"name": "http", "containerPort": 8000}]
    asked = {name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "readiness", "liveness")}
    assert asked["readiness"] == asked["startup"] == {"path": "/ready", "port": "http"}
    assert asked["liveness"] == {"path": "/health", "port": "http"}
    monitored = rendered("monitoring")["PodMonitor"]["spec"]["podMetricsEndpoints"][0]
    assert {probe["path"] for probe in (*asked.values(), monitored)} <= served_paths


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_settings_and_arguments_are_the_servers_own(overlay: str, keys_file: Path) -> None:
    (container,) = pod(overlay)["containers"]
    given = rendered(f"overlays/{overlay}")["ConfigMap"]["data"] | {e["name"]: e.get("value") for e in container["env"]}
    ours = {name.removeprefix("DEMUR_").lower(): value for name, value in given.items() if name.startswith("DEMUR_")}
    settings = Settings(**ours)
    check_exposure(settings.model_copy(update={"keys_file": keys_file}))
    assert settings.keys_file is not None
    assert str(settings.keys_file.parent) in {mount["mountPath"] for mount in container["volumeMounts"]}
    assert settings.port == container["ports"][0]["containerPort"]
    assert pod(overlay)["terminationGracePeriodSeconds"] > settings.shutdown_timeout + 5
    command, *rest = container["args"]
    assert command == "serve"
    assert parse_options(rest[1:]) == ({"tensor_parallel_size": 8} if overlay == "many-gpus" else {})


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_replica_takes_as_many_gpus_as_it_splits_the_model_over(overlay: str) -> None:
    (container,) = pod(overlay)["containers"]
    gpus = {"cpu": None, "one-gpu": 1, "many-gpus": 8}[overlay]
    assert container["resources"]["limits"].get("nvidia.com/gpu") == gpus
    assert container["resources"]["requests"].get("nvidia.com/gpu") == gpus


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_parts_find_each_other(overlay: str) -> None:
    parts = rendered(f"overlays/{overlay}")
    labels = parts["Deployment"]["spec"]["template"]["metadata"]["labels"]
    for selector in (
        parts["Deployment"]["spec"]["selector"]["matchLabels"],
        parts["Service"]["spec"]["selector"],
        parts["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        parts["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
        rendered("monitoring")["PodMonitor"]["spec"]["selector"]["matchLabels"],
    ):
        assert selector.items() <= labels.items()
    scaled = parts["HorizontalPodAutoscaler"]["spec"]
    assert scaled["scaleTargetRef"]["name"] == parts["Deployment"]["metadata"]["name"]
    assert scaled["minReplicas"] > 1  # one may always be taken away
    adapter = documents(KUBERNETES / "monitoring" / "adapter-values.yaml")[0]["rules"]["custom"]
    assert scaled["metrics"][0]["pods"]["metric"]["name"] in {rule["name"]["as"] for rule in adapter}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_nobody_comes_in_who_is_not_named_and_nothing_goes_out(overlay: str) -> None:
    policy = rendered(f"overlays/{overlay}")["NetworkPolicy"]["spec"]
    assert (sorted(policy["policyTypes"]), policy["egress"]) == (["Egress", "Ingress"], [])
    assert policy["ingress"]
    for rule in policy["ingress"]:
        assert rule["from"]  # without it, or with an empty one, everybody is let in
        assert rule["ports"] == [{"protocol": "TCP", "port": 8000}]
        for peer in rule["from"]:
            assert all(selector["matchLabels"] for selector in peer.values())


def test_custom_kinds_have_what_they_need() -> None:
    manifests = rendered("monitoring")
    assert set(manifests) == set(CUSTOM)
    for kind, (version, keys) in CUSTOM.items():
        assert manifests[kind]["apiVersion"] == version
        assert keys <= set(manifests[kind]["spec"])


def test_the_operator_gets_the_same_rules_as_compose(deploy: Path) -> None:
    rule = documents(KUBERNETES / "monitoring" / "prometheus-rule.yaml")[0]
    ours = documents(deploy / "prometheus" / "rules.yml")[0]
    assert json.dumps(rule["spec"]["groups"]) == json.dumps(ours["groups"])
