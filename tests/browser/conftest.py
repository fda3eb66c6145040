"""A real headless Chromium on the real page, served by the real app around the scripted engine."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Request, sync_playwright

from demur.api.app import create_app
from demur.engine.critic import Critic
from demur.engine.scripted import ScriptedEngine, Source
from demur.manifest import Manifest
from demur.settings import Settings
from live import serving

MISSING = "the browser tests need Chromium: run scripts/setup-browser, or on Debian: sudo apt-get install chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}


@dataclass
class Visit:
    """One page that was opened, and what it did on the way."""

    page: Page
    url: str
    engine: ScriptedEngine = field(default_factory=ScriptedEngine)
    requests: list[Request] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def ask(self, question: str, *, contract: str | None = None, t: float | None = None) -> None:
        """Fill in the form and send it."""
        if contract is not None:
            self.find(f"input[name=contract][value={contract}]").check()
        if t is not None:
            self.move(t)
        self.find("#question").fill(question)
        self.find("#send").click()

    def move(self, t: float) -> None:
        """Put the slider where a reader would drag it."""
        self.find("#threshold").fill(f"{100 * t:g}")

    def wait_for(self, kind: str) -> Locator:
        """The verdict once it is "answer", "abstain", "failed" or "working"."""
        verdict = self.find(f'.verdict[data-kind="{kind}"]')
        verdict.wait_for()
        return verdict

    def answer(self, question: str, **options: Any) -> Locator:
        """Ask, and wait until it is answered or not."""
        self.ask(question, **options)
        verdict = self.find('.verdict:is([data-kind="answer"], [data-kind="abstain"])')
        verdict.wait_for()
        return verdict

    def asked(self) -> list[Request]:
        """The requests for answers so far."""
        return [request for request in self.requests if urlsplit(request.url).path == "/v1/answers"]

    def foreign(self) -> list[str]:
        """Requests to anything but the server of the page."""
        return [request.url for request in self.requests if not request.url.startswith(self.url)]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.fail(MISSING, pytrace=False)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., tuple[str, ScriptedEngine]]]:
    """serve(source, front=…, **settings): address and engine; `front` wraps the app, as a proxy would."""
    with ExitStack() as stack:

        def start(
            source: Source | ScriptedEngine,
            *,
            front: Callable[[Any], Any] | None = None,
            manifest: dict[str, Any] | None = None,
            critic: Critic | None = None,
            **settings: Any,
        ) -> tuple[str, ScriptedEngine]:
            engine = source if isinstance(source, ScriptedEngine) else ScriptedEngine(source)
            model = {"name": "demur-test", "calibrated": True, "contracts": ["claims", "response", "explicit_risk"]}
            app = create_app(
                engine, Manifest.model_validate(model | (manifest or {})), Settings(**settings), critic=critic
            )
            return stack.enter_context(serving(front(app) if front else app)), engine

        yield start


@pytest.fixture
def browse(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """browse(url): the page of a server that runs, ready to be asked.

    Whatever a test does, the page may ask no other host, throw nothing, and break no rule of its own policy.
    """
    visits: list[tuple[Visit, BrowserContext]] = []

    def open_page(url: str, *, context: dict[str, Any] | None = None, wait: bool = True, **known: Any) -> Visit:
        opened = browser.new_context(**({"viewport": DESKTOP} | (context or {})))
        visited = Visit(opened.new_page(), url, **known)
        visits.append((visited, opened))
        _watch(visited)
        visited.page.goto(url)
        if wait:
            visited.find("input[name=contract]").first.wait_for()
        return visited

    yield open_page
    for visited, opened in visits:
        opened.close()
        assert visited.foreign() == []
        assert visited.errors == []


@pytest.fixture
def visit(browse: Callable[..., Visit], serve: Callable[..., tuple[str, ScriptedEngine]]) -> Callable[..., Visit]:
    """visit(source, …): the page of a new server."""

    def serve_and_open(
        source: Source | ScriptedEngine, *, context: dict[str, Any] | None = None, wait: bool = True, **server: Any
    ) -> Visit:
        url, engine = serve(source, **server)
        return browse(url, context=context, wait=wait, engine=engine)

    return serve_and_open


RENDER = """async ([text, method]) => {
  const { loadLibraries } = await import('/js/libraries.js');
  const { Prose } = await import('/js/prose.js');
  await loadLibraries();
  const place = document.createElement('div');
  place.className = 'untrusted';
  document.body.append(place);
  new Prose()[method](place, text);
  const html = place.innerHTML;
  place.remove();
  return html;
}"""


@pytest.fixture(scope="module")
def still(browser: Browser) -> Iterator[Page]:
    """One page for all tests of a file that only call the page's modules."""
    engine = ScriptedEngine({})
    with serving(create_app(engine, Manifest(name="demur-test"), Settings())) as url:
        visited = Visit(browser.new_page(), url, engine)
        _watch(visited)
        visited.page.goto(url)
        yield visited.page
        visited.page.close()
        assert visited.errors + visited.foreign() == []


@pytest.fixture
def render(still: Page) -> Callable[..., str]:
    """render(text): the HTML that a model's text becomes."""
    return lambda text, method="write": still.evaluate(RENDER, [text, method])


def _watch(visited: Visit) -> None:
    visited.page.on("request", lambda request: visited.requests.append(request))
    visited.page.on("pageerror", lambda error: visited.errors.append(str(error)))
    visited.page.on("console", lambda line: visited.errors.append(line.text) if _is_bad(line) else None)


def _is_bad(line: Any) -> bool:
    """An HTTP error is reported there too, and is no fault of the page."""
    return line.type in ("error", "warning") and "Failed to load resource" not in line.text
