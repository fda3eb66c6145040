"""Write the tables of the documentation out of the recorded figures: python -m bench tables [--check]

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`, in any page of docs/. Its figures come from
`bench/baseline.json`, which `python -m bench compare --keep` makes of what `make bench` measured. `--check` writes
nothing, and fails where a page differs.
"""

import argparse
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.record import BASELINE, read
from bench.tables import sizing, speed

DOCS = Path(__file__).parents[2] / "docs"
Record = Mapping[str, Any]
TABLES: Mapping[str, Callable[[Record], str]] = {
    "server, whole": lambda record: speed.server(record, "tiny", streamed=False),
    "server, streamed": lambda record: speed.server(record, "tiny", streamed=True),
    "server, embedded model": lambda record: speed.server(record, "embedded"),
    "gateway": speed.gateway,
    "longer answers": speed.lengths,
    "open streams": speed.open_streams,
    "start": speed.start,
    "sizing, hosts": sizing.over_hosts,
    "sizing, own engine": sizing.own_engine,
}
_BLOCK = re.compile(r"<!-- table: (?P<name>[^>]+) -->\n(?P<body>.*?)<!-- end of table -->", re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench tables", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page differs")
    parser.add_argument("--baseline", type=Path, default=BASELINE)
    asked = parser.parse_args()
    if not asked.baseline.exists():
        raise SystemExit(f"tables: there is no {asked.baseline}; python -m bench compare --keep makes it")
    record, stale = read(asked.baseline), list[str]()
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        made = filled(text, record)
        if made == text:
            continue
        stale.append(page.name)
        if not asked.check:
            page.write_text(made, encoding="utf-8")
    print(f"tables: {'differ' if asked.check else 'written'}: {', '.join(stale) or 'none'}")
    if asked.check and stale:
        raise SystemExit("tables: python -m bench tables writes them")


def filled(text: str, record: Record) -> str:
    """A page with each of its tables made anew. Raises SystemExit for a table or a figure that there is not."""

    def made(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in TABLES:
            raise SystemExit(f"tables: no table is called {name!r}; there are: {', '.join(TABLES)}")
        try:
            body = TABLES[name](record)
        except KeyError as missing:
            raise SystemExit(f"tables: {name!r} needs {missing}, which the record has not") from missing
        return f"<!-- table: {name} -->\n\n{body}\n\n<!-- end of table -->"

    return _BLOCK.sub(made, text)


if __name__ == "__main__":
    main()
