"""Commands on every page exist, with their options and their values."""

import json
import re
from pathlib import Path

import pytest

from command_checks import NoSuchCommand, check
from commands import commands, commands_in_script, program
from demur.api.chat.schemas import ChatRequest
from demur.api.schemas import AnswerRequest
from documents import ROOT, name_of, pages


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_commands_exist(page: Path) -> None:
    wrong = []
    for words, whole in commands(page):
        try:
            check(words, whole=whole)
        except NoSuchCommand as error:
            wrong.append(f"{' '.join(words)}: {error}")
    assert not wrong, "\n".join(wrong)


def test_the_pages_have_commands_of_every_program() -> None:
    found = {program(words) for page in pages() for words, _ in commands(page)}
    assert {"demur", "demur-train", "make", "python", "pip", "pytest", "scripts", "curl"} <= found


SCRIPTS = [path for folder in ("scripts", "training/scripts", "deploy") for path in (ROOT / folder).rglob("*")]
CALLING = [path for path in SCRIPTS if path.is_file() and b"bash" in path.read_bytes()[:40]]


@pytest.mark.parametrize("script", CALLING, ids=name_of)
def test_commands_in_scripts_exist(script: Path) -> None:
    for words in commands_in_script(script):
        check(words, whole=False)


def test_scripts_call_the_commands() -> None:
    assert sum(1 for script in CALLING for _ in commands_in_script(script)) > 5


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_bodies_that_curl_sends_are_taken(page: Path) -> None:
    for words, _ in commands(page):
        if program(words) == "curl" and "-d" in words:
            schema = ChatRequest if any("chat" in word for word in words) else AnswerRequest
            schema.model_validate(json.loads(words[words.index("-d") + 1]))


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("demur ask hello -t 0.8 --contract claims", ""),
        ("demur ask hello --risk 0.8", "no option --risk"),
        ("demur ask hello --contract poem", "poem"),
        ("demur ask hello -t 80", "less than or equal to 1"),
        ("demur sing", "no command sing"),
        ("demur keys create a --file keys.json --max-samples none", "valid integer"),
        ("demur serve --model M -- --tensor-parallel-size 2", ""),
        ("demur metrics", "rows"),
        ("demur-train run confidence-brier --scale 1x8 --gpus 3", "no option --gpus"),
        ("make tea", "no target tea"),
        ('make serve ARGS="--prot 9000"', "no option --prot"),
        ("python -m bench tea", "no benchmark tea"),
        ("python -m bench soak --only tea", "no tea"),
        ("pip install 'demur[tea]'", "no extra tea"),
        (".venv/bin/pytest tests/tea", "no file tests/tea"),
        ("scripts/tea now", "no file scripts/tea"),
    ],
)
def test_a_wrong_command_is_found(line: str, wrong: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```sh\nA=1 true && \\\n  {line} > out.txt  # a comment\n```\n")
    found = list(commands(page))
    assert len(found) == 2
    if not wrong:
        check(*found[1][:1], whole=True)
    else:
        with pytest.raises(NoSuchCommand, match=re.escape(wrong)):
            check(*found[1][:1], whole=True)


def test_a_transcript_and_a_sentence_are_read_too(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ demur ask hi\nAnswer: ho\n```\n\nSo `demur serve --port 1` or `p`.\n\n    make serve\n"
    )
    assert [words for words, _ in commands(page)] == [
        ["demur", "ask", "hi"],
        ["make", "serve"],
        ["demur", "serve", "--port", "1"],
    ]


def test_the_readme_fits_on_a_page() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120
