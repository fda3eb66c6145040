"""Structured answers of a running server, and beside it of a bare vLLM that is forced into the same plain schema.

    python -m bench structured --url http://127.0.0.1:8000 --rows 200
    python -m bench structured --url URL --facts FILE --bare http://127.0.0.1:8001 --bare-model NAME

Sums as {a, b, result} are for the embedded model; `--facts` asks the questions of a TriviaQA file as {answer}.
Told are the share of outputs that fit (those that were not cut off), AUC and smooth calibration error for each field,
and with `--bare` how many tokens a leaf costs more than in plain JSON, and the throughput in tokens a second against
the bare server's. Both are asked in turn, in rounds, which goes first alternating.
"""

import argparse
import asyncio
import json
import random
import re
import time
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from bench.report import Spread, publish

from demur.core.fields import is_valid
from demur.core.metrics import Rows, RowsError, summarise
from demur.evaluation.datasets import DATASETS
from demur.evaluation.datasets.base import questions
from demur.evaluation.datasets.files import read_file

SUM = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "result": {"type": "integer"}},
    "required": ["a", "b", "result"],
    "additionalProperties": False,
}
FACT = {
    "type": "object",
    "properties": {"answer": {"type": "string", "minLength": 1, "maxLength": 80}},
    "required": ["answer"],
    "additionalProperties": False,
}
FIGURES = ("accuracy", "auc", "smece")


@dataclass(frozen=True, slots=True)
class Row:
    """A question, and for each field by its JSON Pointer what counts as right."""

    question: str
    gold: Mapping[str, tuple[Any, ...]]


@dataclass(slots=True)
class Tally:
    """What came of the rows: (confidence, right) by field, and what was cut off, fits and does not fit."""

    fields: dict[str, list[tuple[float | None, bool]]] = field(default_factory=dict)
    cut: int = 0
    fits: int = 0
    other: int = 0

    def take(self, reply: Mapping[str, Any], row: Row, schema: Mapping[str, Any]) -> None:
        if reply["reason"] == "truncated":
            self.cut += 1
            return
        given = None if reply["answer"] is None else json.loads(reply["answer"])
        self.fits += given is not None and is_valid(given, schema)
        self.other += given is None or not is_valid(given, schema)
        for one in reply["fields"]:
            right = _plain(one["value"]) in map(_plain, row.gold.get(one["path"], ()))
            self.fields.setdefault(one["path"], []).append((one["confidence"], right))


def _plain(value: object) -> object:
    """Titles alike, whatever their case, accents, articles and punctuation."""
    if not isinstance(value, str):
        return value
    bare = unicodedata.normalize("NFKD", value.casefold())
    words = re.findall(r"\w+", "".join(each for each in bare if not unicodedata.combining(each)))
    return " ".join(word for word in words if word not in ("a", "an", "the"))


def sums(count: int, seed: int) -> list[Row]:
    drawn = random.Random(seed)
    pairs = [(drawn.randint(2, 999), drawn.randint(2, 999)) for _ in range(count)]
    return [
        Row(f"Write down the sum {a} + {b}: its two numbers a and b, and the result.", gold)
        for a, b in pairs
        if (gold := {"/a": (a,), "/b": (b,), "/result": (a + b,)})
    ]


def facts(path: Path, count: int, seed: int) -> list[Row]:
    found, _ = questions(DATASETS["triviaqa"], read_file(path))
    drawn = random.Random(seed).sample(found, min(count, len(found)))
    return [Row(question.text, {"/answer": question.gold}) for question in drawn]


@dataclass(slots=True)
class Asker:
    """One server: its loads' seconds and tokens, and the tokens of each question."""

    url: str
    model: str | None
    schema: Mapping[str, Any]
    most_tokens: int
    rates: list[float] = field(default_factory=list)
    tokens: dict[str, int] = field(default_factory=dict)

    def body(self, question: str) -> dict[str, Any]:
        asked = {"max_tokens": self.most_tokens, "temperature": 0}
        if self.model is None:
            return asked | {"question": question, "schema": self.schema, "risk_threshold": 0}
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": self.schema}}
        told = f"Reply with JSON of this schema: {json.dumps(self.schema)}\n\n{question}"
        return asked | {
            "model": self.model, "messages": [{"role": "user", "content": told}], "response_format": form,
        }  # fmt: skip

    async def load(self, rows: Sequence[Row], at_once: int) -> list[dict[str, Any]]:
        """The rows, so many at a time."""
        gate, path = asyncio.Semaphore(at_once), "/v1/answers" if self.model is None else "/v1/chat/completions"

        async def one(row: Row, client: httpx.AsyncClient) -> dict[str, Any]:
            async with gate:
                response = await client.post(self.url + path, json=self.body(row.question))
            response.raise_for_status()
            self.tokens[row.question] = response.json()["usage"]["completion_tokens"]
            return response.json()

        async with httpx.AsyncClient(timeout=600, trust_env=False) as client:
            start = time.perf_counter()
            replies = await asyncio.gather(*(one(row, client) for row in rows))
        taken = time.perf_counter() - start
        self.rates.append(sum(self.tokens[row.question] for row in rows) / taken)
        return replies


async def measure(options: argparse.Namespace) -> tuple[Tally, Asker, Asker | None]:
    schema = SUM if options.facts is None else FACT
    rows = (
        sums(options.rows, options.seed) if options.facts is None else facts(options.facts, options.rows, options.seed)
    )
    ours = Asker(options.url.rstrip("/"), None, schema, options.max_tokens)
    bare = Asker(options.bare.rstrip("/"), options.bare_model, schema, options.max_tokens) if options.bare else None
    told, size = Tally(), max(1, -(-len(rows) // options.rounds))
    for number, start in enumerate(range(0, len(rows), size)):
        part = rows[start : start + size]
        order = [each for each in (ours, bare) if each is not None]
        for asker in order if number % 2 == 0 else reversed(order):
            replies = await asker.load(part, options.at_once)
            if asker is ours:
                for row, reply in zip(part, replies, strict=True):
                    told.take(reply, row, schema)
    return told, ours, bare


def report(told: Tally, ours: Asker, bare: Asker | None) -> None:
    whole = told.fits + told.other
    rows = [["fit the schema", f"{told.fits} of {whole}", f"{told.cut} cut off"]]
    data: dict[str, Any] = {"fits": told.fits, "whole": whole, "cut": told.cut, "fields": {}}
    for path, pairs in told.fields.items():
        figures = _figures(pairs)
        data["fields"][path] = figures
        rows.append([path, *(f"{name} {figures[name]}" for name in FIGURES)])
    rows.append(["tokens a second", Spread.of(ours.rates).text()])
    data["rates"] = ours.rates
    if bare is not None:
        leaves = len(ours.schema["properties"])
        extra = [(ours.tokens[each] - bare.tokens[each]) / leaves for each in ours.tokens]
        ratios = [a / b for a, b in zip(ours.rates, bare.rates, strict=True)]
        rows += [["extra tokens a leaf", Spread.of(extra).text()], ["throughput ratio", Spread.of(ratios).text()]]
        data |= {"extra_tokens": extra, "throughput_ratios": ratios, "bare_rates": bare.rates}
    publish("structured", "Structured answers", ["", "", "", ""], [row + [""] * (4 - len(row)) for row in rows], data)


def _figures(pairs: Sequence[tuple[float | None, bool]]) -> dict[str, str]:
    """Each with its interval; a reason where there is none, such as that no row is wrong."""
    try:
        found = summarise(Rows.of([p for p, _ in pairs], [right for _, right in pairs]), missing="abstain").figures
    except RowsError as error:
        return dict.fromkeys(FIGURES, str(error))
    return {name: str(found[name]) for name in FIGURES}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--url", default="http://127.0.0.1:8000", help="a demur server")
    options.add_argument("--bare", help="a vLLM server with the same model")
    options.add_argument("--bare-model", help="the name that it has there")
    options.add_argument("--facts", type=Path, help="a TriviaQA file; sums without it")
    options.add_argument("--rows", type=int, default=200)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--at-once", type=int, default=8)
    options.add_argument("--max-tokens", type=int, default=256)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    if (chosen.bare is None) != (chosen.bare_model is None):
        options.error("--bare and --bare-model go together")
    report(*asyncio.run(measure(chosen)))
