"""The same page in a real Firefox: asking, streaming, declining, marks, slider, stop, history, links, copying, axe."""

import os
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from demur.engine.scripted import Gate, Script

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

NODE = Path(__file__).parent / "node"
STEPS = r"""Solution:
<Confidence value=0.97 text="a small product">$2 \cdot 20 = \frac{80}{2}$</Confidence>
<Confidence value=0.41 text="the sum was not checked">40 + 30 = 70 <img src=x onerror=alert(1)></Confidence>
Answer:70"""
WHOLE = "Two rows of 20 are 40.\nAnswer: 40\nConfidence: 0.62"


def test_firefox_walks_through_the_page(serve) -> None:
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    assert program, "the browser tests need Firefox: run scripts/setup-browser"
    gates = {"eggs": Gate(), "geese": Gate()}
    eggs = Script([STEPS], gates={len(STEPS.partition("40 +")[0].split()): gates["eggs"]})
    geese = Script([WHOLE], gates={3: gates["geese"]})
    url, _ = serve({"eggs": eggs, "hens": WHOLE, "geese": geese})
    axe = str(files("axe_playwright_python").joinpath("axe.min.js"))
    walk = subprocess.Popen(
        ["node", "firefox.mjs"],
        cwd=NODE,
        env=os.environ | {"PAGE": url, "FIREFOX": program, "AXE": axe},
        stdout=subprocess.PIPE,
        text=True,
    )
    with walk:
        assert walk.stdout is not None
        said = []
        for line in walk.stdout:
            word, _, name = line.strip().partition(" ")
            if word == "open":
                gates[name].open()
            said.append(line)
    for gate in gates.values():
        gate.open()
    assert walk.returncode == 0, "".join(said)
    assert sum(line.startswith("done ") for line in said) == 10, "".join(said)
