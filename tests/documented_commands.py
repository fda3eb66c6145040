"""The commands that a page or a script gives, compared with what the program takes."""

import re
import shlex
from pathlib import Path

from typer import Typer
from typer.core import TyperGroup
from typer.main import get_command


def commands(text: str, program: str) -> list[list[str]]:
    """The words after `program` wherever a text calls it, continued lines joined, up to the end of line or code."""
    joined = re.sub(r"\\\n\s*", " ", text)
    found = re.findall(rf"\b{program} ([a-z][a-z0-9-]*(?: [^\n`;|]*)?)", joined)
    return [shlex.split(command.split(")")[0], comments=True) for command in found]


def check_commands(page: Path, program: str, app: Typer) -> int:
    """Fail for a command or option on the page that the program does not have; returns how many commands it gives."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    given = commands(page.read_text(), program)
    for name, *words in given:
        assert name in group.commands, f"{page}: {program} {name}"
        options = {word.split("=")[0] for word in words if word.startswith("--")}
        known = {option for parameter in group.commands[name].params for option in parameter.opts}
        assert options <= known, f"{page}: {program} {name} {options - known}"
    return len(given)
