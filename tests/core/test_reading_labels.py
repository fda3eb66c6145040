"""More words for labels, from a file that an operator writes."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from demur.cli import main
from demur.core.parsing.labels import LABELS, extended
from demur.core.reader import Reader, read
from demur.label_file import read_labels
from demur.named_file import FileError
from demur.settings import Settings

SWEDISH = extended(
    LABELS, {"answer": ["Svar", "Slutgiltigt svar"], "confidence": ["säkerhet"], "solution": ["lösning"]}
)


@pytest.mark.parametrize(
    "text",
    [
        "Svar: Rom\nSäkerhet: 80%",
        "**Slutgiltigt svar:** Rom\n**Säkerhet (0-100):** 80",
        "## Svar\n\nRom\n\n## Säkerhet\n\n80 %",
        '{"svar": "Rom", "säkerhet": 0.8}',
        "| Svar | Säkerhet |\n|---|---|\n| Rom | 0.8 |",
        "Answer: Rom\nSäkerhet: 0.8",
        "Svar: Svar: Rom\nSäkerhet: 0.8",
    ],
)
def test_added_words_are_read_in_every_form(text: str) -> None:
    whole = read(text, "response", labels=SWEDISH)
    assert (whole.answer, whole.confidence) == ("Rom", 0.8)
    reader = Reader("response", labels=SWEDISH)
    for character in text:
        reader.feed(character)
    assert reader.close()[1] == whole
    assert read(text, "response").answer != "Rom" or read(text, "response").confidence != 0.8


def test_the_strict_form_knows_no_other_words() -> None:
    assert read("Svar: Rom\nSäkerhet: 0.8", "response", "strict", labels=SWEDISH).answer is None


def test_added_words_begin_the_solution_of_claims() -> None:
    text = 'Lösning:\n<Confidence value=0.9 text="a">1 + 1 = 2</Confidence>\nSvar: 2'
    found = read(text, "claims", labels=SWEDISH)
    assert (found.answer, found.confidence, found.problems) == ("2", 0.9, ())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("labels.toml", 'answer = ["Svar"]\nconfidence = ["Säkerhet"]\n'),
        ("labels.json", '{"answer": ["svar"], "confidence": ["säkerhet"]}'),
        ("labels", 'answer = ["svar"]\nconfidence = ["säkerhet"]'),
    ],
)
def test_a_file_of_words(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert read_labels(file) == extended(LABELS, {"answer": ["svar"], "confidence": ["säkerhet"]})
    assert Settings(labels=file).labels == read_labels(file)
    output = tmp_path / "output.txt"
    output.write_text("Svar: Rom\nSäkerhet: 80%", encoding="utf-8")
    ran = CliRunner().invoke(main, ["parse", str(output), "--labels", str(file)])
    assert json.loads(ran.stdout)["answer"] == "Rom"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('answers = ["svar"]', "answers is no field of such a file; the fields are answer, confidence, solution"),
        ('answer = "svar"', "answer has to be a list of 1 to 200 phrases"),
        ("answer = []", "answer has to be a list of 1 to 200 phrases"),
        ("answer = [1]", "answer has to hold phrases in quotes, not 1"),
        ('answer = [""]', 'answer: "" has to be 1 to 40 printable characters'),
        (f'answer = ["{"a" * 41}"]', "has to be 1 to 40 printable characters"),
        ('answer = ["svar:"]', 'answer: "svar:" has to begin with a letter and to leave the colon out'),
        ('answer = ["# svar"]', "has to begin with a letter"),
        ('answer = ["confidence"]', 'answer: "confidence" already announces the confidence'),
        ('confidence = ["Final answer"]', 'confidence: "Final answer" already announces the answer'),
        ("answer = [", "is no TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line_that_names_the_field(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "labels.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as error:
        read_labels(file)
    assert str(file) in str(error.value)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(ValidationError, match="labels"):
        Settings(labels=file)
    ran = CliRunner().invoke(main, ["parse", str(file), "--labels", str(file)])
    assert (ran.exit_code, ran.stdout) == (2, "")


def test_a_file_that_is_not_there_or_too_large(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot read"):
        read_labels(tmp_path / "none.toml")
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * 70_000)
    with pytest.raises(FileError, match="larger than"):
        read_labels(large)


def test_words_are_for_the_lenient_mode_alone(tmp_path: Path) -> None:
    file = tmp_path / "labels.toml"
    file.write_text('answer = ["svar"]')
    assert CliRunner().invoke(main, ["parse", str(file), "--strict", "--labels", str(file)]).exit_code == 2
