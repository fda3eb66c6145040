"""The Ray Serve configuration names what is there; KubeRay gets the same; replicas follow the samples in flight."""

import asyncio
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import kubernetes_validate
import pytest
import yaml

from demur.answering.deadline import Deadline
from demur.api.admission import Cost
from demur.settings import Settings

RAYS_OWN = pytest.mark.filterwarnings(r"ignore::DeprecationWarning:ray(\..*)?")


@pytest.fixture(scope="module")
def config(deploy: Path) -> dict[str, Any]:
    return yaml.safe_load((deploy / "ray_serve.yaml").read_text())


@pytest.fixture(scope="module")
def service(deploy: Path) -> dict[str, Any]:
    return yaml.safe_load((deploy / "kuberay" / "rayservice.yaml").read_text())


def test_the_names_are_those_of_the_module(config, deploy: Path) -> None:
    code = (deploy / "ray_serve.py").read_text()
    (application,) = config["applications"]
    assert application["import_path"] == "ray_serve:build"
    assert "def build(arguments: Arguments)" in code
    (deployment,) = application["deployments"]
    assert f"class {deployment['name']}:" in code
    module, name = deployment["autoscaling_config"]["policy"]["policy_function"].split(":")
    assert (module, f"class {name}:" in code) == ("ray_serve", True)
    assert set(application["args"]["settings"]) <= set(Settings.model_fields)


def test_ray_waits_longer_than_the_server(config) -> None:
    assert config["http_options"]["request_timeout_s"] > Settings().max_timeout
    assert config["applications"][0]["deployments"][0]["graceful_shutdown_timeout_s"] > Settings().shutdown_timeout


def test_kuberay_gets_the_same_applications(config, service) -> None:
    assert (service["apiVersion"], service["kind"]) == ("ray.io/v1", "RayService")
    theirs = yaml.safe_load(service["spec"]["serveConfigV2"])
    assert theirs == config


def test_kuberay_pods_are_valid_and_hold_no_privilege(service) -> None:
    cluster = service["spec"]["rayClusterConfig"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for group in groups:
        spec = group["template"]["spec"]
        kubernetes_validate.validate(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}, "1.33.0", strict=True
        )
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True
        assert {mount["name"] for mount in spec["containers"][0]["volumeMounts"]} == {
            v["name"] for v in spec["volumes"]
        }


def test_a_worker_has_the_gpus_of_a_replica(config, service) -> None:
    wanted = config["applications"][0]["deployments"][0]["ray_actor_options"]
    (workers,) = service["spec"]["rayClusterConfig"]["workerGroupSpecs"]
    limits = workers["template"]["spec"]["containers"][0]["resources"]["limits"]
    assert limits["nvidia.com/gpu"] == wanted["num_gpus"]
    assert float(limits["cpu"]) >= wanted["num_cpus"]
    scaling = config["applications"][0]["deployments"][0]["autoscaling_config"]
    assert (workers["minReplicas"], workers["maxReplicas"]) == (scaling["min_replicas"], scaling["max_replicas"])


def test_the_pinned_ray_is_the_one_that_kuberay_is_told(service, root: Path) -> None:
    pins = (root / "requirements" / "gpu-ray.txt").read_text().split()
    assert f"ray=={service['spec']['rayClusterConfig']['rayVersion']}" in pins


@pytest.fixture(scope="module")
def module(deploy: Path) -> Iterator[ModuleType]:
    """`deploy/ray_serve.py`, imported by name as Ray does it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(deploy)
        yield importlib.import_module("ray_serve")


@RAYS_OWN
def test_ray_takes_the_configuration(config, module: ModuleType) -> None:
    from ray.serve.schema import ServeDeploySchema

    schema = ServeDeploySchema.model_validate(config)
    assert schema.applications[0].deployments[0].name == "Replica"
    arguments = module.Arguments.model_validate(config["applications"][0]["args"])
    assert module.build(arguments)._bound_deployment.name == "Replica"


@RAYS_OWN
@pytest.mark.parametrize(("samples", "replicas"), [((), 0), ((0, 0), 0), ((1, 0), 1), ((64, 64), 2), ((64, 65), 3)])
def test_replicas_follow_the_samples_in_flight(module: ModuleType, samples, replicas) -> None:
    by_replica = {f"replica {i}": float(count) for i, count in enumerate(samples)}
    context = SimpleNamespace(aggregated_metrics={"samples": by_replica} if samples else {})
    assert module.BySamples(samples_per_replica=64)(context)[0] == replicas


@RAYS_OWN
def test_the_autoscaler_is_told_the_samples_that_run_and_wait(module: ModuleType) -> None:
    server = module.Replica.func_or_class.__mro__[1]  # under Ray's wrapper, which needs a cluster
    replica: Any = SimpleNamespace()

    async def told() -> list[dict[str, float]]:
        await server.__init__(replica, {"engine": "scripted", "allow_anonymous": True}, {})
        async with replica._open:
            admission, seen = replica._app.state.context.admission, [server.record_autoscaling_stats(replica)]
            async with admission.admitted("one", Cost(3, 10), Deadline(5)):
                return [*seen, server.record_autoscaling_stats(replica)]

    assert asyncio.run(told()) == [{"samples": 0.0}, {"samples": 3.0}]
