"""A server in process with calibrators for the requests it is asked."""

from pathlib import Path
from typing import Any

from demur.api.app import create_app
from demur.calibration.store import CalibratorStore
from demur.engine.scripted import ScriptedEngine
from demur.engine.scripted_critic import ScriptedCritic
from demur.manifest import Manifest
from demur.settings import Settings
from served_calibrators import file

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


def answer(server: Any, path: str, question: str, **fields: Any) -> Any:
    reply = server.ask(question, **fields) if path == PATHS[0] else server.chat(question, **fields)
    assert reply.status_code == 200, reply.text
    return reply.json() if path == PATHS[0] else reply.json()["choices"][0]["demur"]
