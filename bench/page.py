"""How fast the page is, and Lighthouse on it: python -m bench page [--url URL] [--claims 2000] [--no-lighthouse]

Without `--url` it is the page of a server around the scripted engine, which answers with that many claims at once.
Measured are, in Chromium, the seconds from the reply until its claims are in the page and laid out, the layout shift of
a first visit, and Lighthouse's four scores on a phone, its default. Lighthouse is taken from npm in the versions of
bench/page_tools/package-lock.json. Needs the dev extra, node and Chromium (scripts/setup-browser).
"""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import uvicorn
from playwright.sync_api import Browser, sync_playwright

from demur.api.app import create_app
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Manifest
from demur.settings import Settings

TOOLS = Path(__file__).parent / "page_tools"
FLAGS = ["--no-sandbox", "--disable-gpu"]
ROUNDS = 5
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
SHIFT = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += entry.hadRecentInput ? 0 : entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => done(sum), 1000);
})"""
RENDER = """async () => {
  const { segments } = await import('/js/spans.js');
  const { Steps } = await import('/js/steps.js');
  const { Prose } = await import('/js/prose.js');
  const { loadLibraries } = await import('/js/libraries.js');
  await loadLibraries();
  const reply = await (await fetch('/v1/answers', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ question: 'all of them', contract: 'claims', granularity: 'claims', risk_threshold: 0.5 }),
  })).json();
  const started = performance.now();
  const steps = new Steps(new Prose());
  document.getElementById('result').replaceChildren(steps.element);
  steps.threshold = 0.5;
  steps.settle(segments(reply.text, reply.claims));
  document.body.getBoundingClientRect();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return [reply.claims.length, (performance.now() - started) / 1000];
}"""


def main() -> None:
    options = _options()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise SystemExit("bench page: no Chromium here; run scripts/setup-browser")
    with nullcontext(options.url) if options.url else _served(options.claims) as url:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            print(f"layout shift of a first visit: {_shift(browser, url):.3f}", flush=True)
            if not options.url:
                _tell_rendering(browser, url)
            browser.close()
        if options.lighthouse:
            for name, score in lighthouse(url, chromium).items():
                print(f"lighthouse {name}: {score:.0f}", flush=True)


def lighthouse(url: str, chromium: str) -> dict[str, float]:
    """Scores of 100 by category."""
    program = TOOLS / "node_modules" / ".bin" / "lighthouse"
    if not program.exists():
        subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=TOOLS, check=True)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [program, url, "--output=json", f"--output-path={report}", "--quiet", "--no-enable-error-reporting"]
        command += [f"--chrome-flags=--headless=new {' '.join(FLAGS)}", f"--only-categories={','.join(CATEGORIES)}"]
        subprocess.run(command, env=os.environ | {"CHROME_PATH": chromium}, check=True)
        found = json.loads(report.read_text())
    for audit in found["audits"].values():
        if audit["score"] is not None and audit["score"] < 0.9 and audit["scoreDisplayMode"] in ("binary", "numeric"):
            print(f"  below 90: {audit['id']}, {audit.get('displayValue') or audit['title']}", flush=True)
    return {name: 100 * found["categories"][name]["score"] for name in CATEGORIES}


def _shift(browser: Browser, url: str) -> float:
    page = browser.new_page()
    page.goto(url)
    page.locator("input[name=contract]").first.wait_for()
    found = page.evaluate(SHIFT)
    page.close()
    return found


def _tell_rendering(browser: Browser, url: str) -> None:
    took, claims = [], 0
    for _ in range(ROUNDS):
        page = browser.new_page()
        page.goto(url)
        page.locator("input[name=contract]").first.wait_for()
        claims, seconds = page.evaluate(RENDER)
        took.append(seconds)
        page.close()
    spread = f"{min(took):.2f} to {max(took):.2f}"
    print(f"{claims} claims in the page: {statistics.median(took):.2f} s ({spread} in {ROUNDS} rounds)", flush=True)


@contextmanager
def _served(claims: int) -> Iterator[str]:
    """The page around an engine that answers at once with so many claims, every fourth with a formula."""
    steps = "\n".join(
        f'<Confidence value={(i % 10) / 10} text="not checked">Step {i}: '
        f"{f'$x_{{{i}}} = {i}^2$' if i % 4 == 0 else f'{i} + 1 = {i + 1}'}</Confidence>"
        for i in range(claims)
    )
    engine = ScriptedEngine(lambda _: f"Solution:\n{steps}\nAnswer:1", max_model_len=10**7, chunker=lambda text: [text])
    model = Manifest.model_validate(
        {"name": "scripted", "calibrated": True, "contracts": ["claims", "response"], "sampling": {"max_tokens": 10**6}}
    )
    app = create_app(engine, model, Settings())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench page")
    parser.add_argument("--url", help="a running server's page, in place of one of its own")
    parser.add_argument("--claims", type=int, default=2000)
    parser.add_argument("--no-lighthouse", dest="lighthouse", action="store_false")
    return parser.parse_args()


if __name__ == "__main__":
    main()
