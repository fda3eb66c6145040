"""`demur serve --calibrator`: read at the start, refused by name where it cannot be served, followed afterwards."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from demur.api.app import create_app
from demur.calibration.store import CalibratorStore
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.serving.app_loading import open_app
from demur.serving.errors import CannotLoad
from demur.settings import Settings
from live import serving
from served_calibrators import calibrator, file


async def get(app: Any, path: str) -> Any:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://in-process") as client:
        return (await client.get(path)).json()


async def conditions(app: Any) -> dict[str, Any]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://in-process") as client:
        body = {"question": "q", "include_conditions": True}
        return (await client.post("/v1/answers", json=body)).json()["conditions"]


def opened(*paths: Path) -> Any:
    async def look() -> Any:
        async with open_app(Settings(engine="scripted", calibrators=paths), {}) as app:
            return await get(app, "/v1/models"), await conditions(app)

    models, asked = asyncio.run(look())
    return models["data"][0]["demur"], asked


def test_one_that_was_made_for_this_model_fits(tmp_path) -> None:
    card, asked = opened()
    assert card["calibrators"] == []
    made = file(tmp_path / "c.json", asked, fingerprint=card["fingerprint"])
    assert opened(made)[0]["calibrators"][0]["fits"] is True


def spoilt(path: Path, asked: dict[str, Any], how: str) -> None:
    made = calibrator(asked, **({"model": None} if how == "no card" else {})).model_dump(mode="json")
    if how == "edited":
        made["guarantees"][1]["threshold"] = 0.01
    if how == "newer":
        made["format"] = 2
    path.write_text("{" if how == "no json" else json.dumps(made))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("edited", "digest: the file was changed"),
        ("newer", "format: 2 is of a newer demur"),
        ("no json", "is no calibrator"),
        ("no card", "without a run card"),
        ("gone", "No such file"),
    ],
)
def test_one_that_cannot_be_served_ends_the_start_by_name(tmp_path, how, words) -> None:
    path = tmp_path / "mine.json"
    if how != "gone":
        spoilt(path, opened()[1], how)
    with pytest.raises(CannotLoad, match=rf"--calibrator: .*mine\.json.*{words}"):
        opened(path)


def test_the_environment_names_several(monkeypatch) -> None:
    monkeypatch.setenv("DEMUR_CALIBRATORS", "a.json, b/c.json,")
    assert Settings().calibrators == (Path("a.json"), Path("b/c.json"))


def test_a_running_server_follows_its_files(tmp_path) -> None:
    """Through the app's own life: what is replaced counts without a restart."""
    path = file(tmp_path / "c.json", opened()[1])
    store = CalibratorStore([path], "files:one", interval=0)
    app = create_app(ScriptedEngine(), Manifest(name="m"), Settings(), calibrators=store, fingerprint="files:one")
    rows = 0
    with serving(app) as url:
        file(path, dict(store.loaded[0].conditions), rows=777)
        while rows != 777:
            rows = httpx.get(f"{url}/v1/models").json()["data"][0]["demur"]["calibrators"][0]["rows"]
