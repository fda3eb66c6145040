"""The page about what is read is made from the table that the tests run."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_current() -> None:
    check = [sys.executable, str(ROOT / "scripts" / "reading-page"), "--check"]
    assert subprocess.run(check, timeout=60).returncode == 0, "run scripts/reading-page"


def test_the_page_names_every_refusal_of_the_reader() -> None:
    page = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8")
    names = ("range", "several", "not_understood", "scale_unclear", "out_of_range", "not_a_number")
    assert all(f"### `{name}`\n" in page for name in names)
