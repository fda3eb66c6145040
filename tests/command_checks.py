"""Whether the programs that a command on a page names know it: its sub-commands, options and values."""

import re
import shlex
import tempfile
import tomllib
from contextlib import chdir
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from commands import program
from demur import cli
from demur.cli.loading import load
from documents import ROOT

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""click's UsageError, of the click that typer uses."""


class NoSuchCommand(AssertionError):
    """A page names a command, an option, a target or a file that is not there."""


def check(words: list[str], *, whole: bool) -> None:
    """Raises NoSuchCommand. `whole` commands are parsed with their arguments, others by the names of their options."""
    name = program(words)
    arguments = words[1:]
    match name:
        case "demur":
            _check_demur(arguments, whole)
        case "demur-train":
            from demur_training.cli import app

            _check_click(get_command(app), arguments, whole)
        case "demur-smol-lab":
            from demur_smol_lab.cli import app

            _check_click(get_command(app), arguments, whole)
        case "make":
            _check_make(arguments)
        case "python" if arguments[:2] == ["-m", "bench"]:
            _check_bench(arguments[2:])
        case "pip":
            _check_extras(arguments)
        case "pytest":
            _check_pytest(arguments)
        case "scripts":
            _check_file(words[0])
        case _:
            for word in words:
                if re.fullmatch(r"(deploy|scripts|clients|training|examples)/[\w./-]+", word):
                    _check_file(word)


def _check_demur(arguments: list[str], whole: bool) -> None:
    if arguments and arguments[0] in cli._ELSEWHERE:
        target, extra, _ = cli._ELSEWHERE[arguments[0]]
        found = load(target, extra)
        _check_click(_as_command(found, arguments[0]), arguments[1:], whole)
    else:
        _check_click(get_command(cli.main), arguments, whole)


def _as_command(found: Any, name: str) -> Any:
    if isinstance(found, typer.Typer):
        return get_command(found)
    app = typer.Typer(add_completion=False)
    app.command(name)(found)
    return get_command(app)


def _check_click(command: Any, arguments: list[str], whole: bool) -> None:
    words = list(arguments)
    while isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        if words[0] not in command.commands:
            raise NoSuchCommand(f"no command {words[0]}")
        command = command.commands[words.pop(0)]
    before = words[: words.index("--")] if "--" in words else words
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    given = {word.split("=")[0] for word in before if re.match(r"--?[a-z]", word)}
    if unknown := given - known - {"--help"}:
        raise NoSuchCommand(f"no option {', '.join(sorted(unknown))}")
    if whole and not isinstance(command, TyperGroup):
        _parse(command, words)


def _parse(command: Any, words: list[str]) -> None:
    """Every value and argument, without running anything. Files that a reader has need not be here."""
    try:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            for word in words:
                if re.fullmatch(r"[\w-]+\.(jsonl|json|txt)", word):
                    Path(word).touch()
            command.make_context("page", list(words))
    except USAGE_ERROR as error:
        raise NoSuchCommand(str(error)) from error


def _check_make(arguments: list[str]) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    chosen = [word for word in arguments if "=" not in word]
    if unknown := set(chosen) - targets:
        raise NoSuchCommand(f"no target {', '.join(sorted(unknown))}")
    options = next((shlex.split(word[5:]) for word in arguments if word.startswith("ARGS=")), [])
    match chosen:
        case ["serve"]:
            _check_demur(["serve", *options], whole=True)
        case ["soak"]:
            _check_bench(["soak", *options])
        case ["train-embedded"]:
            check(["demur-smol-lab", "run", *options], whole=False)
        case _:
            pass


def _check_bench(arguments: list[str]) -> None:
    names = {path.stem for path in (ROOT / "bench").glob("*.py")} | {
        path.parent.name for path in (ROOT / "bench").glob("*/__init__.py")
    }
    if arguments and arguments[0] not in names:
        raise NoSuchCommand(f"no benchmark {arguments[0]}")
    if arguments[:1] == ["soak"]:
        text = (ROOT / "bench" / "soak" / "__main__.py").read_text()
        for word in arguments[1:]:
            if f'"{word}"' not in text and not word.isdecimal():
                raise NoSuchCommand(f"the soak test has no {word}")


def _check_extras(arguments: list[str]) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for word in arguments:
        if found := re.fullmatch(r"demur\[([\w,-]+)\]", word):
            if unknown := set(found[1].split(",")) - set(extras):
                raise NoSuchCommand(f"no extra {', '.join(sorted(unknown))}")
        elif word.startswith(("./", "requirements/")):
            _check_file(word)


def _check_pytest(arguments: list[str]) -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    marks = {mark.split(":")[0] for mark in options["markers"]}
    for option, word in zip(["", *arguments], arguments, strict=False):
        if option == "-m" and not set(re.findall(r"[a-z]+", word)) <= marks | {"not", "and", "or"}:
            raise NoSuchCommand(f"no such mark: {word}")
        if word.startswith("tests/"):
            _check_file(word)


def _check_file(name: str) -> None:
    if not (ROOT / name).exists():
        raise NoSuchCommand(f"no file {name}")
