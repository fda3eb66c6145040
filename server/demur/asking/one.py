"""One question: the answer as it comes, or its JSON."""

import json
import sys
from dataclasses import asdict
from typing import Any, Literal

from rich.console import Console

from demur.asking.exits import ABSTAINED, ANSWERED, INTERRUPTED, fail
from demur.asking.screen import Screen
from demur_client import Answer, AnswerEvent, Client, ConnectionFailedError, DemurError
from demur_client.request import Options
from demur_client.untrusted import clean, escape_json

Shown = Literal["live", "whole", "json", "json_events"]
"""How an answer is shown: for people while it is made or once it is there, as JSON, or as one JSON object an event."""


def ask_one(question: str, server: dict[str, Any], options: Any, *, shown: Shown, no_color: bool) -> int:
    """Ask and print; the exit status."""
    try:
        with Client(**server) as client:
            match shown:
                case "json":
                    answer = _as_json(client, question, options)
                case "json_events":
                    answer = _as_events(client, question, options)
                case "whole":
                    answer = _whole(client, question, options)
                case "live":
                    answer = _live(client, question, options, no_color)
    except KeyboardInterrupt:
        return INTERRUPTED
    except (DemurError, ValueError) as error:
        fail(explained(error))
    return ANSWERED if answer else ABSTAINED


def explained(error: Exception) -> str:
    """An error in words that a terminal may show, with what to do about it."""
    hint = "; is a server running? demur serve starts one" if isinstance(error, ConnectionFailedError) else ""
    return clean(str(error)) + hint


def _live(client: Client, question: str, options: Options, no_color: bool) -> Answer:
    piped = not sys.stdout.isatty()  # lines then stay as long as the model made them
    screen = Screen(Console(no_color=no_color or None, highlight=False, markup=False, emoji=False, soft_wrap=piped))
    with client.stream(question, **options) as stream, screen:
        for event in stream:
            screen.show(event, stream.transcript)
    return stream.result()


def _whole(client: Client, question: str, options: Options) -> Answer:
    with Console(stderr=True).status("asking"):
        answer = client.answer(question, **options)
    print(clean(str(answer)))
    return answer


def _as_events(client: Client, question: str, options: Options) -> Answer:
    """One line for each event as it comes, `{"event": ..., ...}`."""
    with client.stream(question, **options) as stream:
        for event in stream:
            name = type(event).__name__.removesuffix("Event").lower()
            told = {"answer": event.answer.to_dict()} if isinstance(event, AnswerEvent) else asdict(event)
            print(escape_json(json.dumps({"event": name} | told, ensure_ascii=False)), flush=True)
    return stream.result()


def _as_json(client: Client, question: str, options: Options) -> Answer:
    with Console(stderr=True).status("asking"):
        answer = client.answer(question, **options)
    print(escape_json(json.dumps(answer.to_dict(), indent=2, ensure_ascii=False)))
    return answer
