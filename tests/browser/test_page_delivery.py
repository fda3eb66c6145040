"""How the page gets to the browser: little, from one host, and kept when it has not changed."""

import gzip
import hashlib
import re
import tomllib
from pathlib import Path

import httpx
import pytest

from demur.api import web

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]


def test_the_first_paint_takes_less_than_100_kilobytes(visit) -> None:
    page = visit({})
    page.page.wait_for_load_state("networkidle")
    bodies = [r.response().body() for r in page.requests if r.response() and "/v1/" not in r.url]
    assert len(bodies) > 20
    assert sum(len(gzip.compress(body)) for body in bodies) < 100_000


def test_nothing_but_the_pages_files_is_needed_for_the_first_paint(visit) -> None:
    page = visit({})
    paths = {re.sub(r"^https?://[^/]+", "", request.url) for request in page.requests}
    folder = web.web_folder()
    files = {"/" + file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    files = {name for name in files if not name.startswith("/vendor/") or name == "/vendor/temml.css"}
    files = {name for name in files if "/grade" not in name}  # another page's
    assert paths - files == {"/", "/ready", "/v1/models"}
    assert files - paths <= {"/index.html"}, "every file is used"


def test_a_file_that_has_not_changed_is_not_sent_again(serve) -> None:
    url, _ = serve({})
    first = httpx.get(f"{url}/js/main.js")
    again = httpx.get(f"{url}/js/main.js", headers={"if-none-match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


def test_the_page_works_below_a_path_of_a_proxy(visit) -> None:
    """Every address in the page is relative."""
    folder = web.web_folder()
    for file in [path for path in folder.rglob("*.*") if path.suffix in (".js", ".css", ".html")]:
        assert not re.search(r"""(src|href|from|url)\s*[=(]?\s*["']/""", file.read_text()), file.name


def test_the_wheel_has_the_page_where_the_server_looks_for_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    package = Path(web.__file__).parents[1]
    assert Path(included["clients/web"]) == Path(package.name) / "web"
    assert web.web_folder() in (package / "web", ROOT / "clients" / "web")


def test_libraries_are_those_that_were_checked_in() -> None:
    """`scripts/vendor-web` writes the list; each library has its licence beside it."""
    folder = web.web_folder()
    assert folder is not None
    listed = dict(reversed(line.split("  ")) for line in (folder / "vendor" / "SHA256SUMS").read_text().splitlines())
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (folder / "vendor").iterdir()}
    found.pop("SHA256SUMS")
    assert found == listed
    assert {"LICENSE-temml", "LICENSE-markdown-it", "LICENSE-stix-two-math"} <= set(found)


def test_no_contract_is_compared_by_name() -> None:
    """What differs between contracts is told by the server, so that one from outside needs no change here."""
    folder = web.web_folder()
    assert folder is not None
    for file in (folder / "js").glob("*.js"):
        assert not re.search(r"""contract\b\)?\s*[!=]==?\s*["'`]""", file.read_text()), file.name
