"""How an answer looks: printed, and in a notebook."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from demur_client import Answer
from demur_client.decoding import Fields, answer
from demur_client.untrusted import clean, escape_json
from demur_client.wording import segments

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def shown(reply: Any) -> Any:
    """shown("claims-hostile"): the answer in that vector."""
    return lambda name, **changes: answer(Fields(reply(name, **changes)))


def test_an_answer_reads_as_text(shown: Any) -> None:
    assert str(shown("response-answer")) == (
        "Two rows of 20 are 40. With 30 more that makes 70.\n\nAnswer: 70   (93% sure, 80% asked for)"
    )


def test_claims_read_with_their_confidence_in_the_margin(shown: Any) -> None:
    assert str(shown("claims-one-highlighted")) == (
        "    97%  2 * 20 = 40\n"
        "?   62%  40 + 30 = 70\n"
        "         (the sum was not checked)\n"
        "\n"
        "Answer: 70   (62% sure; 1 of 2 claims in doubt at 80%, marked ?)"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("response-below-threshold", "No answer: the model is 62% sure, and 80% was asked for."),
        ("response-confidence-missing", "No answer: the model did not say how sure it is."),
        ("response-confidence-invalid", "No answer: what the model wrote as its confidence is no probability."),
        ("response-answer-missing", "No answer: the output of the model holds none."),
        ("response-truncated", "No answer: the output was cut at the token limit; a larger max_tokens may help."),
        ("explicit-risk-declined", "No answer: the model declined at a risk threshold of 80%."),
    ],
)
def test_an_abstention_says_why(shown: Any, name: str, words: str) -> None:
    assert str(shown(name)) == words


def test_a_reason_from_the_future_is_shown_as_it_is(shown: Any) -> None:
    assert str(shown("response-below-threshold", reason="too_late")) == "No answer: too_late."


def test_a_model_that_nobody_calibrated_is_named_as_such(shown: Any) -> None:
    assert "not calibrated" in str(shown("response-uncalibrated"))
    assert "not calibrated" in shown("response-uncalibrated")._repr_html_()


def test_withheld_text_is_not_printed(shown: Any) -> None:
    withheld = shown("response-below-threshold-with-withheld")
    assert "70" not in str(withheld)
    assert "70" not in Elements(withheld._repr_html_()).text


def test_every_answer_can_be_shown(replies_vector: Any) -> None:
    read = answer(Fields(replies_vector["reply"]))
    for view in (str(read), read._repr_html_()):
        assert view
        assert not CONTROLS.search(view)


class Elements(HTMLParser):
    """The tags and attributes of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_model_text_never_becomes_markup(shown: Any) -> None:
    hostile = Elements(shown("claims-hostile")._repr_html_())
    assert set(hostile.tags) <= {"div", "span", "ul", "li", "strong"}
    assert set(hostile.attributes) <= {"class", "style", "title"}
    assert "<script>alert(1)</script>" in hostile.text
    assert "<b>70</b>" in hostile.text


def test_doubt_is_marked_by_more_than_colour(shown: Any) -> None:
    html = shown("claims-one-highlighted")._repr_html_()
    assert html.count("⚠") == 3
    assert html.count("dashed") == 1
    assert "the sum was not checked" in Elements(html).text
    assert "⚠" not in shown("claims-all-asserted")._repr_html_()


def test_html_sets_no_colour_of_its_own_for_text_or_ground(shown: Any) -> None:
    html = shown("claims-all-highlighted")._repr_html_()
    assert set(re.findall(r"(?<![-\w])color:([^;\"]+)", html)) == {"inherit"}
    assert all(ground == "transparent" or ",.22)" in ground for ground in re.findall(r"background:([^;\"]+)", html))


def test_spans_that_lie_do_no_harm(shown: Any, reply: Any) -> None:
    claims = reply("claims-one-highlighted")["claims"]
    claims[0]["span"], claims[1]["span"] = [5, 10_000], [-3, 8]
    strange: Answer = shown("claims-one-highlighted", claims=claims)
    assert "".join(piece for piece, _ in segments(strange.text or "", strange.claims)) == strange.text
    assert str(strange)
    assert strange._repr_html_()


@pytest.mark.parametrize(
    ("dirty", "cleaned"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "31mred"),
        ("a\x1b", "a"),
        ("one\r\ntwo\rthree", "one\ntwothree"),
        ("tab\tstays\n", "tab\tstays\n"),
        ("\u202etxt.exe\u202c", "txt.exe"),
        ("a\u2066b\u2069\u200f\ufeff", "ab"),
        ("\x00\x07\x08\x7f", ""),
        ("𝑥 ≤ 2 · ä 🥚 שלום", "𝑥 ≤ 2 · ä 🥚 שלום"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
)
def test_controls_are_taken_out_and_text_stays(dirty: str, cleaned: str) -> None:
    assert clean(dirty) == cleaned


def test_json_is_made_safe_without_changing_it() -> None:
    text = "\u202e\x9b31m\x7f ä\u2066"
    document = escape_json(json.dumps(text, ensure_ascii=False))
    assert not CONTROLS.search(document)
    assert "ä" in document
    assert json.loads(document) == text


def test_threshold_has_to_be_a_probability(shown: Any) -> None:
    for wrong in (1.01, -0.1, float("nan"), "0.8", True, None):
        with pytest.raises(ValueError, match="risk_threshold"):
            shown("response-answer").at(wrong)


def test_an_answer_is_true_and_an_abstention_is_not(shown: Any) -> None:
    given, abstained = shown("response-answer"), shown("response-below-threshold")
    assert given
    assert not abstained
    assert (given.abstained, abstained.abstained) == (False, True)
    assert [claim.text for claim in shown("claims-one-highlighted").highlighted] == ["40 + 30 = 70"]
