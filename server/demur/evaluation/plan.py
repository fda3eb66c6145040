"""What one run does: the settings that decide its answers, and the run card that keeps them."""

import json
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import demur
from demur.core.answers import Aggregation, Contract, Granularity
from demur.core.selection import SelectionRule
from demur.evaluation.asking.base import Ask, Key
from demur.evaluation.asking.served import Served
from demur.evaluation.datasets import GraderName, Loaded
from demur.evaluation.errors import StoreError
from demur.prompts import Domain, prompt_hash

ApiName = Literal["answers", "chat"]

LIBRARIES = "numpy", "httpx", "math-verify", "scikit-learn", "matplotlib"

GROWS = frozenset({"questions", "limit", "samples", "risk_thresholds", "base_url"})
"""A run may be gone on with more of these, and from another address."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides what is asked and how it is graded. Another plan needs another folder."""

    dataset: str
    source: str
    sha256: str
    questions: int
    limit: int | None
    domain: Domain
    grader: GraderName
    base_url: str
    api: ApiName
    model: str | None
    contract: Contract
    granularity: Granularity
    aggregation: Aggregation | None
    confidence_source: str | None
    samples: int
    selection: SelectionRule | None
    risk_thresholds: tuple[float, ...]
    temperature: float | None
    top_p: float | None
    max_tokens: int | None
    seed: int | None
    extra: dict[str, Any]
    judge: str | None
    judge_sees_confidence: bool

    def as_dict(self) -> dict[str, Any]:
        """For the run card. The prompt is named by its hash where it is built on this side."""
        prompt = prompt_hash(self.contract, self.domain) if self.api == "chat" else None
        return asdict(self) | {"risk_thresholds": list(self.risk_thresholds), "prompt": prompt}

    def asks(self, loaded: Loaded) -> Iterator[Ask]:
        """Every request of the run, the first sample of all questions before the second of any.

        A run that is stopped early has then seen every question as often as possible.
        """
        thresholds = self.risk_thresholds if self.contract == "explicit_risk" else (None,)
        once = self.selection is not None and self.api == "answers"
        for sample in range(1 if once else self.samples):
            for question in loaded.questions:
                for t in thresholds:
                    yield Ask(Key(question.id, sample, t), question.text)


class Card:
    """The run card: plan, versions, times and totals, as `run.json` in the folder of the run."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.path = folder / "run.json"
        self.fields: dict[str, Any] = {
            "plan": plan.as_dict(),
            "versions": versions(),
            "started": now(),
            "seconds_asking": 0.0,
        }

    def open(self) -> None:
        """Take up the card of an earlier start of the same run, or begin one. Raises StoreError for another run."""
        if self.path.exists():
            earlier = read_card(self.path.parent)
            refuse_other(earlier["plan"], self.fields["plan"], self.path.parent)
            self.fields |= {key: earlier[key] for key in ("started", "seconds_asking", "served") if key in earlier}
        self.save()

    def meet(self, served: Served) -> None:
        """Note the model that a demur server says it serves. Raises StoreError where it was another one before.

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
        """Write the card, with these fields added, so that a kill leaves the old one or the new one."""
        self.fields |= fields
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".json.new")
        beside.write_text(json.dumps(self.fields, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        beside.replace(self.path)


def read_card(folder: Path) -> dict[str, Any]:
    """The run card of a folder. Raises StoreError where there is none."""
    try:
        return json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except OSError:
        raise StoreError(f"{folder} holds no run.json: is it the folder of a run?") from None
    except ValueError as error:
        raise StoreError(f"{folder / 'run.json'} is damaged: {error}") from None


def refuse_other(earlier: dict[str, Any], plan: dict[str, Any], folder: Path) -> None:
    """Raise StoreError unless the folder holds answers to this plan, or to a smaller one of its kind."""
    for name, value in plan.items():
        if name not in GROWS and earlier.get(name) != value:
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
    """The time for a card."""
    return datetime.now(UTC).isoformat(timespec="seconds")
