"""Votes over costly formulas: whoever votes over plain answers, or over one formula, beside them must not wait."""

import asyncio
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.soak.result import Result
from bench.soak.server import listen, serving
from bench.soak.wire import Reply, attempt, post

from demur.api_keys import KeyFile, make_key
from demur.engine.base import Message
from demur.engine.demo import unwrap
from demur.engine.scripted import Script, ScriptedEngine
from demur.grading import Grader

SAMPLES = 4
PATIENCE = 120.0
VICTIMS = {"number": "4", "words": "the Eiffel Tower", "formula": r"\frac{x}{7}+1"}


def costly_formulas(seconds: float, size: int) -> Result:
    """`size` requests of four samples each, whose answers are tuples of sines that nobody has seen before; the victims
    have another key."""
    with tempfile.TemporaryDirectory() as folder:
        (flood, loud), (quiet, soft) = make_key("flood"), make_key("quiet")
        file = Path(folder) / "keys.json"
        KeyFile(file).change(lambda keys: (*keys, flood, quiet))
        with serving(("-m", "bench.soak.grading"), keys_file=file) as served:
            return asyncio.run(_costly(served.port, loud, soft, size))


async def _costly(port: int, loud: str, soft: str, size: int) -> Result:
    alone = {name: await _ask(port, soft, f"{name} 0") for name in VICTIMS}
    flooding = [asyncio.create_task(_ask(port, loud, f"flood {i}")) for i in range(size)]
    await asyncio.sleep(1.0)
    beside = {name: await _ask(port, soft, f"{name} 1") for name in VICTIMS}
    flood = await asyncio.gather(*flooding)
    figures = {
        f"{name}: alone, beside, s": f"{alone[name].seconds:.2f}, {beside[name].seconds:.2f}" for name in VICTIMS
    }
    slowest = max(reply.seconds for reply in flood)
    return Result(
        f"{size} votes over costly formulas",
        figures | {"answered: flood": f"{sum(r.status == 200 for r in flood)} of {size}, in {slowest:.0f} s"},
        {
            "victims are answered": all(reply.status == 200 for reply in beside.values()),
            "number and words within twice their time alone, or 0.1 s": all(
                beside[name].seconds <= max(2 * alone[name].seconds, 0.1) for name in ("number", "words")
            ),
            "a formula waits for one answer of the flood": beside["formula"].seconds <= alone["formula"].seconds + 3.0,
        },
    )


async def _ask(port: int, key: str, question: str) -> Reply:
    body = {"question": question, "samples": SAMPLES, "contract": "response", "timeout": PATIENCE}
    return await attempt(port, post(body, key), PATIENCE)


def script(messages: Sequence[Message]) -> Script:
    name, _, number = unwrap(messages[-1]["content"]).question.strip().partition(" ")
    if name == "formula":  # another each time: one that was seen before is not worked out again
        return Script([f"Answer: x/7+{number}\nConfidence: 0.9"])
    if name in VICTIMS:
        return Script([f"Answer: {VICTIMS[name]}\nConfidence: 0.9"])
    first = int(re.sub(r"\D", "", number) or 0) * SAMPLES
    return Script([f"Answer: {_sines(first + i)}\nConfidence: 0.9" for i in range(SAMPLES)])


def _sines(i: int) -> str:
    return "(" + ", ".join(rf"\sin(\cos(x^{{{n}}}+{i}))" for n in range(2, 14)) + ")"


def main() -> int:
    with Grader() as grader:
        return listen(ScriptedEngine(script), grader=grader)


if __name__ == "__main__":
    sys.exit(main())
