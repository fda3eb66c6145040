"""`make soak`: every scenario, or those named, on this machine's loopback; ends with 1 when a promise was broken."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

from bench.soak.engine_killed import engine_killed, engine_stopped
from bench.soak.grading import costly_formulas
from bench.soak.hostile import hostile
from bench.soak.logs import stalled_log
from bench.soak.malformed import malformed
from bench.soak.mixed import mixed
from bench.soak.overload import overload, slow_readers
from bench.soak.result import Result, show
from bench.soak.seeds import seeds
from bench.soak.server import allow_many_files
from bench.soak.streams import fairness, streams
from bench.soak.upstreams import upstreams


@dataclass(frozen=True, slots=True)
class Scenario:
    """`run` takes seconds and a size; these are the usual ones."""

    run: Callable[[float, int], Result]
    seconds: float
    size: int


SCENARIOS = {
    "streams": Scenario(streams, 120, 2000),
    "fairness": Scenario(fairness, 30, 100),
    "overload": Scenario(overload, 30, 64),
    "engine-killed": Scenario(engine_killed, 5, 32),
    "engine-stopped": Scenario(engine_stopped, 5, 32),
    "slow-readers": Scenario(slow_readers, 40, 20),
    "costly-formulas": Scenario(costly_formulas, 0, 16),
    "stalled-log": Scenario(stalled_log, 0, 20_000),
    "malformed": Scenario(malformed, 0, 10_000),
    "hostile": Scenario(hostile, 0, 20_000),
    "upstreams": Scenario(upstreams, 60, 16),
    "seeds": Scenario(seeds, 0, 60),
    "mixed": Scenario(mixed, 600, 4),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench soak", description=__doc__)
    parser.add_argument("--only", choices=SCENARIOS, action="append", help="a scenario; may be repeated")
    parser.add_argument("--seconds", type=float, help="how long each lasts, about")
    parser.add_argument("--size", type=int, help="how many streams, clients or requests")
    chosen = parser.parse_args()
    allow_many_files()
    results: list[Result] = []
    for name in chosen.only or SCENARIOS:
        scenario = SCENARIOS[name]
        print(f"== {name}", file=sys.stderr, flush=True)
        results.append(scenario.run(chosen.seconds or scenario.seconds, chosen.size or scenario.size))
    show(results)
    return 0 if all(result.kept for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
