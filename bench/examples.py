"""Measure what a manifest tells newcomers, on a running server: python -m bench examples [--write FOLDER]

Asks every example of the served model's manifest (or of `--candidates FILE`, a list as in the manifest) 50 times, as
the page would, and prints how often it showed what it is meant to: 9 of 10 are wanted. With `--rows FILE`, what
`demur evaluate` wrote for whole answers, also the curve and the reliability that the page shows. `--write` puts both
into the manifest in FOLDER and renews its line in SHA256SUMS.
"""

import argparse
import asyncio
import datetime
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from demur.core.equivalence import same_answer
from demur.core.metrics import Rows, summarise
from demur.manifest import FILE_NAME, Manifest
from demur.measured import AtThreshold, Bin, Example, Interval, Measured

DRAWS, AT_ONCE, ENOUGH = 50, 6, 0.9
PATIENCE = 600
"""Seconds for one answer of a slow CPU."""


def main() -> None:
    options = _options()
    examples = asyncio.run(measure(options.url, _examples(options), options.draws))
    measured = {name: _measured(name, path, options.on) for name, path in (options.rows or [])}
    for name, found in measured.items():
        print(f"{name}: {found.answers} answers, AUC {found.auc}")
    if options.write:
        write(options.write, examples, measured)


async def measure(url: str, examples: Sequence[Example], draws: int) -> list[Example]:
    """The same examples with the share of `draws` samples that showed what each is meant to."""
    room = asyncio.Semaphore(AT_ONCE)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:

        async def once(example: Example) -> bool:
            async with room:
                reply = await client.post("/v1/answers", json={**request(example), "timeout": PATIENCE})
            return shows(example, reply.raise_for_status().json())

        found = []
        for example in examples:
            hits = await asyncio.gather(*(once(example) for _ in range(draws)))
            found.append(example.model_copy(update={"draws": draws, "share": sum(hits) / draws}))
            _tell(found[-1])
        return found


def _tell(example: Example) -> None:
    mark = " " if (example.share or 0) >= ENOUGH else "!"
    share = f"{example.share:6.0%} of {example.draws}"
    print(f"{mark} {share}  {example.shows:8} {example.contract:9} {example.question}", flush=True)


def request(example: Example) -> dict[str, Any]:
    asked = example.model_dump(include={"question", "contract", "granularity", "risk_threshold"})
    return {name: value for name, value in asked.items() if value is not None}


def shows(example: Example, reply: dict[str, Any]) -> bool:
    """Whether a reply shows what the example is there for."""
    doubted = any(claim["decision"] == "highlight" for claim in reply["claims"] or [])
    shown = "abstain" if reply["decision"] == "abstain" else "doubt" if doubted else "answer"
    right = example.answer is None or (reply["answer"] is not None and same_answer(reply["answer"], example.answer))
    return shown == example.shows and right


def measured_from(
    confidence: Sequence[float | None], right: Sequence[bool], problem: Sequence[Any], on: str
) -> Measured:
    """Curve and reliability of rows, one answer each."""
    figures = summarise(Rows.of(confidence, right, problem)).as_dict()
    p = np.array([np.nan if one is None else one for one in confidence], dtype=float)
    r = np.array(right, dtype=bool)
    return Measured(
        on=on,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        answers=len(p),
        auc=_interval(figures["auc"]),
        smece=_interval(figures["smece"]),
        thresholds=tuple(_at(p, r, t / 100) for t in range(5, 100, 5)),
        reliability=tuple(_bins(p, r)),
    )


def write(folder: Path, examples: Sequence[Example], measured: dict[str, Measured]) -> None:
    """Into the manifest, whose hash in SHA256SUMS is renewed. What was measured before stays where nothing is new."""
    manifest = Manifest.load(folder)
    update = {"examples": tuple(examples), "measured": {**manifest.measured, **measured}}
    manifest.model_copy(update=update).write(folder)
    sums = folder / "SHA256SUMS"
    if sums.exists():
        digest = hashlib.sha256((folder / FILE_NAME).read_bytes()).hexdigest()
        lines = [
            f"{digest}  {FILE_NAME}" if line.endswith(f"  {FILE_NAME}") else line
            for line in sums.read_text().split("\n")
        ]
        sums.write_text("\n".join(lines))


def _at(p: np.ndarray, right: np.ndarray, t: float) -> AtThreshold:
    answered = p >= t
    share = float(right[answered].mean()) if answered.any() else None
    return AtThreshold(risk_threshold=t, answered=float(answered.mean()), right=share)


def _bins(p: np.ndarray, right: np.ndarray) -> list[Bin]:
    tenth = np.where(np.isnan(p), -1, np.minimum(np.nan_to_num(p) * 10, 9)).astype(int)
    return [
        Bin(answers=int(own.sum()), confidence=float(p[own].mean()), right=float(right[own].mean()))
        for own in (tenth == i for i in range(10))
        if own.any()
    ]


def _interval(figure: Any) -> Interval | None:
    known = isinstance(figure, dict) and figure.get("low") is not None
    return Interval(**{name: figure[name] for name in ("value", "low", "high")}) if known else None


def _measured(contract: str, path: str, on: str) -> Measured:
    rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    whole = [row for row in rows if row.get("claim") is None]
    columns = ([row[name] for row in whole] for name in ("confidence", "correct", "problem"))
    return measured_from(*columns, on=on)


def _examples(options: argparse.Namespace) -> list[Example]:
    if options.candidates:
        return [Example.model_validate(one) for one in json.loads(options.candidates.read_text())]
    card = httpx.get(f"{options.url}/v1/models", timeout=30).raise_for_status().json()["data"][0]["demur"]
    return [Example.model_validate(one) for one in card["examples"]]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench examples")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--candidates", type=Path, metavar="FILE")
    parser.add_argument("--rows", nargs=2, action="append", metavar=("CONTRACT", "FILE"))
    parser.add_argument("--on", default="graded test problems", help="what the rows' questions are")
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    return parser.parse_args()


if __name__ == "__main__":
    main()
