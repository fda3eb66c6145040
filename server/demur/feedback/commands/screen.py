"""An item of the queue in the terminal. All of it is text of strangers and models; none of it may steer a terminal."""

from typing import Any

from rich.console import Console
from rich.text import Text

from demur_client.untrusted import clean


def show_item(item: dict[str, Any], progress: dict[str, Any], keys: str, claim: int | None = None) -> None:
    """The question, the answer with what leads to it, the known answer; then how far it went, and the keys. `claim` is
    the step that the next key is about, None where it is about the answer."""
    console = Console(highlight=False, markup=False, emoji=False)
    planned = f" of {progress['planned']}" if progress["planned"] else ""
    console.print()
    console.rule(f"graded {progress['graded']}{planned}", align="left")
    for message in item["messages"]:
        console.print(Text(clean(message["content"]), style="bold" if message["role"] == "user" else "dim"))
    console.print()
    if item["text"]:
        console.print(Text(clean(item["text"])))
    console.print(Text("Answer: ", style="dim").append(clean(item["answer"] or "none"), style="bold not dim"))
    for i, step in enumerate(item["claims"] if claim is not None else ()):
        mark, style = ("> ", "bold") if i == claim else ("  ", "dim")
        console.print(Text(f"{mark}step {i + 1}: ", style=style).append(clean(step["text"])))
    if item["gold"]:
        console.print(Text("Known answer: ", style="dim").append(clean(item["gold"]), style="not dim"))
    console.print(Text(keys, style="dim"))
