"""`make bench`: run the benchmarks, all or those named: python -m bench [reader] [server] ...

`make soak` is not among them: python -m bench soak [--only streams --seconds 20]
Nor is what needs the folder of a run: python -m bench replay RUN
Nor what needs a disk to itself, and PostgreSQL: python -m bench feedback [--answers 5000]
Nor what asks a running server: python -m bench examples, strangers [--url URL], structured [--url URL --bare URL]
Nor what takes half an hour and has options: python -m bench guarantee [--part worst --sets 200]
Nor what installs LiteLLM beside it: python -m bench gateway [--seconds 20]
Nor what starts servers again and again: python -m bench start [--rounds 4]
Nor what needs a browser and node: python -m bench page [--url URL]
What moved since the baseline: python -m bench compare
The tables of the documentation, from the baseline: python -m bench tables [--check]
One that is named alone gets the arguments behind it: python -m bench grouping FILE
"""

import importlib
import runpy
import signal
import sys
from pathlib import Path

APART = {"examples", "structured", "guarantee", "feedback", "gateway", "start", "page", "strangers"}
"""They take long, and have arguments of their own."""
RECORDED = {"compare", "tables"}
"""They measure nothing: they read what the others recorded."""
PARTS = {"__main__", "report", "pairs", "record", "populations", "replay"}
"""What benchmarks are made of, and what runs in another way."""
NAMES = sorted(
    {"server"}
    | {
        path.stem
        for path in Path(__file__).parent.glob("*.py")
        if path.stem not in PARTS | APART | RECORDED and not path.stem.startswith("_")
    }
)


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the servers that a benchmark started end with it
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__, "Alone or together: ", ", ".join(NAMES), sep="")
        return
    if sys.argv[1:2] in (["soak"], ["replay"]):
        runpy.run_module(f"bench.{sys.argv.pop(1)}", run_name="__main__")
        return
    named = sys.argv[1:2]
    if set(named) & (APART | RECORDED) or (set(named) & set(NAMES) and set(sys.argv[2:]) - set(NAMES)):
        importlib.import_module(f"bench.{sys.argv.pop(1)}").main()
        return
    wanted = sys.argv[1:] or NAMES
    unknown, names = sorted(set(wanted) - set(NAMES)), ", ".join(sorted({*NAMES, *APART, *RECORDED}))
    if unknown:
        raise SystemExit(f"bench: no benchmark called {', '.join(unknown)}; there are: {names}")
    sys.argv[1:] = []  # each benchmark reads its own arguments when it is run by itself
    for name in wanted:
        print(f"== {name}", file=sys.stderr, flush=True)
        importlib.import_module(f"bench.{name}").main()  # by its name: what it hands to processes can be found there


if __name__ == "__main__":
    main()
