"""The shell commands that stand on pages for readers: in blocks, in transcripts, and inside sentences."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from documents import fences

SHELL = {"sh", "bash", "shell", "console"}
_INLINE = re.compile(r"(?<!`)`((?:[^`\n]|\n(?!\n))+)`(?!`)")
_INDENTED = re.compile(r"(?:^ {4}\S.*\n)+", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Z][A-Z0-9_]*=")
_REDIRECTION = re.compile(r"\d?[<>]+")
_SEPARATORS = {"|", "||", "&&", ";", "&"}
PROGRAMS = ("demur", "demur-train", "demur-smol-lab", "make", "python", "pip", "pytest", "scripts", "curl")


def commands(page: Path) -> Iterator[tuple[list[str], bool]]:
    """Every command of a page as words, and whether it is whole: one inside a sentence may leave arguments out."""
    text = page.read_text(encoding="utf-8")
    for block in fences(page):
        if block.language in SHELL:
            for line in _lines(block.text, prompted=block.language == "console"):
                yield from ((words, True) for words in _split(line))
    prose = _FENCED.sub("", text)
    for block in _INDENTED.findall(prose):
        for line in _lines(block, prompted=False):
            yield from ((words, True) for words in _split(line))
    for span in _INLINE.findall(_INDENTED.sub("", prose)):
        if program(span.split()) in PROGRAMS:
            yield from ((words, False) for words in _split(span.replace("\\|", "|")))


def _lines(block: str, *, prompted: bool) -> Iterator[str]:
    """Commands of a block, continued lines joined; in a transcript those after a prompt."""
    for line in re.sub(r"\\\n\s*", " ", block).splitlines():
        if not prompted:
            yield line
        elif line.startswith("$ "):
            yield line[2:]


def _split(line: str) -> Iterator[list[str]]:
    """The simple commands of a line: no assignments before them, no redirections."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word in _SEPARATORS:
            if command := _without_redirections(words):
                yield command
            words = []
        elif words or not _ASSIGNMENT.match(word):
            words.append(word)


def _without_redirections(words: Sequence[str]) -> list[str]:
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif found := _REDIRECTION.match(word):
            skip = found[0] == word
        else:
            kept.append(word)
    return kept


def program(words: Sequence[str]) -> str:
    """What the first word runs: `scripts` for a script of the repository."""
    first = words[0].removeprefix(".venv/bin/") if words else ""
    return "scripts" if first.startswith("scripts/") else first


def commands_in_script(script: Path) -> Iterator[list[str]]:
    """The calls of `demur` and its kin in a shell script, each up to the end of its command."""
    for line in _lines(script.read_text(encoding="utf-8"), prompted=False):
        found = re.search(r"(?:^|[\s/])(demur(?:-train|-smol-lab)? [a-z].*)", line.partition("# ")[0])
        if found and "echo " not in line[: found.start()]:
            yield next(_split(found[1].replace('"', "").replace("'", "").replace("$(", "").replace(")", "")))
