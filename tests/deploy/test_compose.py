"""The compose files name things that exist, give the server settings it knows, and keep it small."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from demur.settings import Settings


@pytest.fixture(scope="module")
def services(deploy: Path) -> dict[str, Any]:
    return yaml.safe_load((deploy / "compose" / "compose.yaml").read_text())["services"]


def test_every_service_is_confined(services) -> None:
    assert set(services) == {"demur", "prometheus", "grafana"}
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory"}, name
        assert all(port.startswith("127.0.0.1:") for port in service["ports"]), name
        assert ":" in service["image"], name
        assert not service["image"].endswith(":latest"), name


def test_mounted_files_are_there(services, deploy: Path) -> None:
    mounts = [mount for service in services.values() for mount in service.get("volumes", []) if mount.startswith("../")]
    assert mounts
    for mount in mounts:
        source, _, mode = mount.split(":")
        assert (deploy / "compose" / source).exists(), source
        assert mode == "ro"
    assert (deploy / "compose" / services["demur"]["build"]["context"] / "Dockerfile").exists()


def test_environment_variables_are_settings_of_the_server(services, deploy: Path) -> None:
    over = yaml.safe_load((deploy / "compose" / "gpu.yaml").read_text())["services"]["demur"]
    for service in (services["demur"], over):
        ours = {name for name in service["environment"] if name.startswith("DEMUR_")}
        assert ours <= {f"DEMUR_{name.upper()}" for name in Settings.model_fields}


def test_a_server_that_others_can_reach_wants_keys(services) -> None:
    ours = services["demur"]
    folder = Path(ours["environment"]["DEMUR_KEYS_FILE"]).parent
    assert [mount for mount in ours["volumes"] if mount.endswith(f":{folder}:ro")]


def test_the_server_may_finish_before_it_is_killed(services) -> None:
    assert int(services["demur"]["stop_grace_period"].removesuffix("s")) > Settings().shutdown_timeout


def test_the_parts_find_each_other(services, deploy: Path) -> None:
    scrape = yaml.safe_load((deploy / "prometheus" / "prometheus.yml").read_text())["scrape_configs"][0]
    assert scrape["dns_sd_configs"][0]["names"] == ["demur"]
    assert scrape["dns_sd_configs"][0]["port"] == 8000
    sources = yaml.safe_load((deploy / "grafana/provisioning/datasources/prometheus.yml").read_text())["datasources"]
    assert sources[0]["url"] == "http://prometheus:9090"
    provider = yaml.safe_load((deploy / "grafana/provisioning/dashboards/demur.yml").read_text())["providers"][0]
    assert f"../grafana/dashboard.json:{provider['options']['path']}/demur.json:ro" in services["grafana"]["volumes"]
