"""The run manifest: the settings that decide the answers of a run, kept beside them."""

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import demur
from demur.evaluation.asking.served import Served
from demur.evaluation.errors import StoreError
from demur.evaluation.field_marks import growing, recorded
from demur.evaluation.job import Job
from demur.evaluation.run_config import RunConfig
from demur.prompts import prompt_hash

LIBRARIES = "numpy", "httpx", "math-verify", "scikit-learn", "matplotlib"


def plan_of(job: Job) -> dict[str, Any]:
    """Everything that decides what is asked and how it is graded. Another plan needs another folder.

    The prompt is named by its hash where it is built on this side.
    """
    config, loaded = job.config, job.loaded
    trained = config.prompt_wording == "trained"
    prompt = prompt_hash(config.contract, loaded.dataset.domain, trained=trained) if config.api == "chat" else None
    return {**loaded.recorded(), **recorded(config), "prompt": prompt}


class RunManifest:
    """The run manifest: plan, versions, times and totals, as `run.json` in the folder of the run."""

    def __init__(self, job: Job) -> None:
        self.path = job.folder / "run.json"
        self.fields: dict[str, Any] = {
            "plan": plan_of(job),
            "versions": versions(),
            "started": now(),
            "seconds_asking": 0.0,
        }

    def open(self) -> None:
        """Take up the manifest of an earlier start of the same run, or begin one. Raises StoreError for another run."""
        if self.path.exists():
            earlier = read_manifest(self.path.parent)
            refuse_other(earlier["plan"], self.fields["plan"], self.path.parent)
            self.fields |= {key: earlier[key] for key in ("started", "seconds_asking", "served") if key in earlier}
        self.save()

    def check_served_model(self, served: Served) -> None:
        """Record the model that a demur server says it serves. Raises StoreError where it was another one before.

        What one of the two does not say is no difference: it may be an older server.
        """
        earlier: Served = self.fields.get("served") or {}
        for name, value in served.items():
            if None not in (value, earlier.get(name)) and earlier[name] != value:
                raise StoreError(
                    f"{self.path.parent} holds answers of another model: its {name} was {earlier[name]!r} and is"
                    f" {value!r} now; serve that one again or give another --out"
                )
        self.save(served={name: value or earlier.get(name) for name, value in served.items()})

    def save(self, **fields: Any) -> None:
        """Write the manifest, with these fields added, so that a kill leaves the old one or the new one."""
        self.fields |= fields
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".json.new")
        beside.write_text(json.dumps(self.fields, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        beside.replace(self.path)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The run manifest of a folder. Raises StoreError where there is none."""
    try:
        return json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except OSError:
        raise StoreError(f"{folder} holds no run.json: is it the folder of a run?") from None
    except ValueError as error:
        raise StoreError(f"{folder / 'run.json'} is damaged: {error}") from None


def refuse_other(earlier: dict[str, Any], plan: dict[str, Any], folder: Path) -> None:
    """Raise StoreError unless the folder holds answers to this plan, or to a smaller one of its kind."""
    may_grow = growing(RunConfig) | {"questions"}
    for name, value in plan.items():
        if name not in may_grow and earlier.get(name) != value:
            raise StoreError(
                f"{folder} holds answers of another run: {name} was {earlier.get(name)!r} and is {value!r};"
                " give another --out"
            )


def versions() -> dict[str, str]:
    """This program, Python, and the libraries that touch the numbers."""
    found = {"demur": demur.__version__, "python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def now() -> str:
    """The time for a manifest."""
    return datetime.now(UTC).isoformat(timespec="seconds")
