"""The page as it looks, against pictures of it that somebody has looked at: layout, colours, marks.

A picture is compared in blocks, so that another version of the browser, which draws letters a little differently, is no
difference. All text is set in the font that comes with the page, whatever fonts the machine has. After a wanted change the
test says where the new picture is: look at it, and copy it over the old one.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from page_model import KNOWN

pytestmark = pytest.mark.browser

PICTURES = Path(__file__).parent / "pictures"
ONE_FONT = '* { font-family: "Demur Math" !important; }'
BLOCK, LEVELS, SHARE = 8, 12, 0.002
"""Pixels a side; how far the mean colour of a block may be off, of 255; and the share of blocks that may be off further."""

STEPS = r"""Solution:
<Confidence value=0.97 text="a small product">2 * 20 = 40</Confidence>
<Confidence value=0.7 text="by Pythagoras, which needs a right angle">$$c = \sqrt{a^2 + \frac{b}{2}}$$</Confidence>
<Confidence value=0.2 text="the sum was not checked">40 + 30 = 70</Confidence>
Answer:70"""
WHOLE = "Two rows of 20 are 40.\n\n- one\n- two\n\nAnswer: 40\nConfidence: 0.62"
VOTES = [f"Well.\nAnswer: {answer}\nConfidence: {p}" for answer, p in (("70", 0.9), ("80", 0.6), ("70", 0.8))]
SOURCE = {"eggs": STEPS, "hens": WHOLE, "geese": VOTES}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def first(page) -> None:
    page.find(".verdict").wait_for()


def trust(page) -> None:
    page.find(".badge").click()


def claims(page) -> None:
    page.answer("How many eggs?", contract="claims", t=0.5)
    page.find(".step msqrt").wait_for()


def abstained(page) -> None:
    page.answer("How many hens?", contract="response", t=0.9)


def vote(page) -> None:
    page.find("#options summary").click()
    page.find("[name=samples]").fill("3")
    page.answer("How many geese?", contract="response", t=0.5)


SHOTS = {
    "first": (first, {}),
    "trust": (trust, {}),
    "claims": (claims, {}),
    "claims-dark": (claims, {"color_scheme": "dark"}),
    "claims-phone": (claims, PHONE),
    "abstained": (abstained, {}),
    "vote": (vote, {}),
}


@pytest.fixture
def picture(visit, tmp_path) -> Callable[..., Path]:
    def take(name: str, spoil: str = "") -> Path:
        state, context = SHOTS[name]
        context = {"viewport": {"width": 1000, "height": 800}, "reduced_motion": "reduce", "bypass_csp": True} | context
        page = visit(SOURCE, manifest=KNOWN, context=context)
        page.page.add_style_tag(content=ONE_FONT + spoil)
        state(page)
        page.page.mouse.move(0, 0)
        page.page.evaluate("document.activeElement.blur()")
        page.page.evaluate("document.fonts.ready.then(() => null)")
        hidden = [page.find(".cost")]  # seconds
        page.page.screenshot(path=tmp_path / f"{name}.png", full_page=True, mask=hidden, mask_color="#888888")
        return tmp_path / f"{name}.png"

    return take


def blocks(path: Path) -> np.ndarray:
    """Mean colours, [rows, columns, 3]."""
    image = Image.open(path).convert("RGB")
    size = (image.width // BLOCK, image.height // BLOCK)
    return np.asarray(image.resize(size, Image.Resampling.BOX), dtype=int)


def difference(one: Path, other: Path) -> float:
    """The share of blocks that are off; 1 where the pictures are not equally large."""
    found, kept = blocks(one), blocks(other)
    if found.shape != kept.shape:
        return 1.0
    return float((abs(found - kept).max(axis=2) > LEVELS).mean())


@pytest.mark.parametrize("name", SHOTS)
def test_the_page_looks_as_it_did(picture, name) -> None:
    found, kept = picture(name), PICTURES / f"{name}.png"
    assert kept.exists(), f"nothing to compare with: look at {found}, and copy it to {kept}"
    off = difference(found, kept)
    assert off <= SHARE, f"{off:.1%} of it looks different: look at {found}; where that was wanted, copy it to {kept}"


@pytest.mark.parametrize(
    "spoil",
    [
        ".step .text { background: none !important; }",
        ".verdict { background: #ddd; }",
        ".reason { visibility: hidden !important; }",
    ],
)
def test_what_a_reader_would_miss_is_a_difference(picture, spoil) -> None:
    """The tint of doubt, the place of the decision, the reason."""
    off = difference(picture("claims", spoil), PICTURES / "claims.png")
    assert SHARE < off < 1
