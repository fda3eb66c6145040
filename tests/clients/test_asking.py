"""`demur ask`, run as a command against a small server that replays the wire vectors."""

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from rich.console import Console
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from typer.testing import CliRunner

from demur.asking import ask
from demur.asking.screen import Screen
from demur_client.events import EventReader
from live import serving

VECTORS = Path(__file__).parents[1] / "vectors"
Command = Callable[..., Result]


class Replay:
    """A server that knows the vectors: a question names the one it is answered with. It remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.app = Starlette(routes=[Route("/v1/answers", self._answer, methods=["POST"])])

    async def _answer(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append(body)
        if body["question"] == "refused":
            return JSONResponse({"error": {"type": "invalid_request", "message": "no \x1b[31mred", "param": "x"}}, 400)
        if body.get("stream"):
            return StreamingResponse(iter(frames(body["question"])), media_type="text/event-stream")
        return JSONResponse(vector("replies", body["question"])["reply"])


def vector(kind: str, name: str) -> dict[str, Any]:
    return json.loads((VECTORS / kind / f"{name}.json").read_text())


def frames(name: str) -> list[str]:
    if (VECTORS / "events" / f"{name}.json").exists():
        events = vector("events", name)["events"]
    else:
        events = [{"event": "answer", "data": vector("replies", name)["reply"]}]
    return [f"event: {event['event']}\ndata: {json.dumps(event['data'])}\n\n" for event in events]


@pytest.fixture(scope="module")
def replay() -> Iterator[tuple[Replay, str]]:
    app = Replay()
    with serving(app.app) as address:
        yield app, address


@pytest.fixture
def command(replay: tuple[Replay, str]) -> Command:
    """command("question", "-t", "0.8"): what the command printed and its exit status."""
    app = typer.Typer()
    app.command()(ask)
    return lambda *arguments: CliRunner().invoke(app, [*arguments, "--base-url", replay[1]])


def test_an_answer_is_printed_with_its_confidence(command: Command) -> None:
    result = command("response-answer")
    assert result.exit_code == 0
    assert result.stdout == (
        "Two rows of 20 are 40. With 30 more that makes 70.\n\nAnswer: 70   (93% sure, 80% asked for)\n"
    )


def test_claims_are_printed_with_their_doubts(command: Command) -> None:
    result = command("claims-live")
    assert result.exit_code == 0
    assert result.stdout == (
        "    97%  2 * 20 = 40\n"
        "?   62%  40 + 30 = 70\n"
        "         (the sum was not checked)\n"
        "\n"
        "Answer: 70   (62% sure; 1 of 2 claims in doubt at 80%, marked ?)\n"
    )


def test_an_abstention_has_an_exit_status_of_its_own(command: Command) -> None:
    result = command("response-below-threshold")
    assert (result.exit_code, result.stdout) == (3, "No answer: the model is 62% sure, and 80% was asked for.\n")


def test_withheld_text_is_shown_under_its_own_heading(command: Command) -> None:
    result = command("response-below-threshold-with-withheld", "--withheld")
    assert result.exit_code == 3
    assert result.stdout.startswith("No answer: ")
    assert result.stdout.endswith("Withheld:\nTwo rows of 20 are 40. With 30 more that makes 70.\nAnswer: 70\n")


def test_a_start_over_is_said(command: Command) -> None:
    lines = command("claims-reset").stdout.splitlines()
    assert lines[:2] == ["    99%  It is 80", "-- the model started over: what stands above is void --"]
    assert lines[2] == "    97%  2 * 20 = 40"


def test_what_streamed_stays_above_the_verdict_that_there_is_no_answer(command: Command) -> None:
    result = command("claims-answer-missing")
    assert result.exit_code == 3
    assert "void" not in result.stdout
    assert "40 + 30 = 70" in result.stdout
    assert result.stdout.splitlines()[-1] == "No answer: the output of the model holds none."


def test_options_reach_the_server(command: Command, replay: tuple[Replay, str]) -> None:
    options = "-t 0.8 --contract claims --granularity response --samples 3 --max-tokens 64 --withheld"
    command("response-answer", *options.split())
    assert replay[0].asked[-1] == {
        "question": "response-answer",
        "risk_threshold": 0.8,
        "contract": "claims",
        "granularity": "response",
        "samples": 3,
        "max_tokens": 64,
        "include_withheld": True,
        "stream": True,
    }
    command("response-answer")
    assert replay[0].asked[-1] == {"question": "response-answer", "stream": True}


def test_signals_are_asked_for_and_printed(command: Command, replay: tuple[Replay, str]) -> None:
    options = "--signal verbalized --signal critic --confidence-source verbalized"
    result = command("response-signals", *options.split())
    assert replay[0].asked[-1]["include_signals"] == ["verbalized", "critic"]
    assert replay[0].asked[-1]["confidence_source"] == "verbalized"
    assert result.stdout.endswith(
        "verbalized: 93%\ncritic: missing: no critic is served with this model; use 'verbalized'\n"
    )


def test_json_is_the_reply(command: Command) -> None:
    given, abstained = command("response-answer", "--json"), command("response-below-threshold", "--json")
    assert (given.exit_code, abstained.exit_code) == (0, 3)
    assert json.loads(given.stdout) == vector("replies", "response-answer")["reply"]


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_model_text_cannot_drive_the_terminal(command: Command, options: Sequence[str]) -> None:
    result = command("claims-hostile", *options)
    assert result.exit_code == 0
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", result.stdout)
    assert "<script>alert(1)</script>" in result.stdout


def test_an_error_is_one_line_on_standard_error(command: Command) -> None:
    result = command("refused")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "demur: no red (status 400, type invalid_request, param x)\n"


def test_an_error_in_the_stream_is_an_error(command: Command) -> None:
    result = command("error-last")
    assert result.exit_code == 1
    assert result.stderr.startswith("demur: The model stopped in the middle of the answer.")


def test_no_server_is_said_with_what_to_do() -> None:
    app = typer.Typer()
    app.command()(ask)
    result = CliRunner().invoke(app, ["7 * 8?", "--base-url", "http://127.0.0.1:1"])
    assert result.exit_code == 1
    assert "cannot reach http://127.0.0.1:1" in result.stderr
    assert "demur serve" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["  "],
        ["7 * 8?", "-t", "1.5"],
        ["7 * 8?", "-t", "high"],
        ["7 * 8?", "--contract", "essay"],
        ["7 * 8?", "--samples", "0"],
        ["7 * 8?", "--out", "answers.jsonl"],
        ["--file", "no-such-file.jsonl", "--out", "answers.jsonl"],
        ["--file", __file__],
        ["7 * 8?", "--file", __file__, "--out", "answers.jsonl"],
    ],
)
def test_a_wrong_command_line_is_status_2(command: Command, arguments: Sequence[str]) -> None:
    result = command(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")


def test_help_names_the_exit_statuses(command: Command) -> None:
    assert "0 answered, 3 abstained, 1 failed" in " ".join(command("--help").stdout.split())


@pytest.fixture
def terminal() -> Callable[..., str]:
    """terminal("claims-live", no_color=…): what a colour terminal gets to see of those events."""

    def play(name: str, **settings: Any) -> str:
        written = io.StringIO()
        options = {"force_terminal": True, "color_system": "standard", "width": 80, "_environ": {}} | settings
        screen, reader = Screen(Console(file=written, markup=False, highlight=False, **options)), EventReader()
        with screen:
            for event in reader.feed("".join(frames(name)).encode()):
                screen.show(event, reader.transcript)
        return written.getvalue()

    return play


def test_a_terminal_gets_colour_and_a_legend(terminal: Callable[..., str]) -> None:
    seen = terminal("claims-live")
    assert "\x1b[32m    97%  2 * 20 = 40\x1b[0m" in seen
    assert "\x1b[33m?   62%  40 + 30 = 70\x1b[0m" in seen
    assert "■ 90% or more" in seen
    assert seen.index("97%") < seen.index("Answer: 70")


@pytest.mark.parametrize("settings", [{"no_color": True}, {"_environ": {"NO_COLOR": "1"}}])
def test_colour_can_be_switched_off(terminal: Callable[..., str], settings: dict[str, Any]) -> None:
    seen = terminal("claims-live", **settings)
    assert "?   62%  40 + 30 = 70" in seen
    assert "■" not in seen
    assert not re.search(r"\x1b\[[0-9;]*3[1-7]m", seen)


def test_unfinished_text_is_shown_while_it_comes(terminal: Callable[..., str]) -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=80, _environ={})
    screen, reader = Screen(console), EventReader()
    for event in reader.feed("".join(frames("claims-live")[:1]).encode()):
        screen.show(event, reader.transcript)
    with console.capture() as capture:
        console.print(screen._unfinished())
    assert "2 * 20" in capture.get()


def questions_file(folder: Path, *names: str) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps({"id": f"q-{name}", "question": name}) + "\n" for name in names))
    return path


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_file_of_questions_is_answered(command: Command, tmp_path: Path) -> None:
    file = questions_file(tmp_path, "response-answer", "response-below-threshold", "response-confidence-missing")
    result = command("--file", str(file), "--out", str(tmp_path / "answers.jsonl"), "-t", "0.8")
    assert result.exit_code == 0
    answers = {row["line"]: row for row in rows(tmp_path / "answers.jsonl")}
    assert [answers[line]["id"] for line in (1, 2, 3)] == [
        "q-response-answer",
        "q-response-below-threshold",
        "q-response-confidence-missing",
    ]
    assert answers[1]["reply"] == vector("replies", "response-answer")["reply"]
    assert "3 questions: 1 answered, 2 abstained, 0 failed" in result.stderr
    assert "abstained, below threshold: 1" in result.stderr
    assert "mean confidence 0.775 over 2" in result.stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("questions.csv", "id,question\r\n7,response-answer\r\n"),
        ("questions.tsv", "Id\tprompt\nx\tresponse-answer\n"),
        ("questions.json", '[{"id": 7.0, "question": "response-answer"}]'),
        ("questions.json", '["response-answer"]'),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_questions_come_in_any_format(command: Command, tmp_path: Path, name: str, text: str, encoding: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding=encoding, newline="")
    result = command("--file", str(file), "--out", str(tmp_path / "answers.jsonl"))
    assert result.exit_code == 0, result.output
    (answer,) = rows(tmp_path / "answers.jsonl")
    assert answer["question"] == "response-answer"
    assert str(answer["id"]) in ("7", "None")


def test_failures_are_written_and_counted(command: Command, tmp_path: Path) -> None:
    file = questions_file(tmp_path, "response-answer", "refused")
    result = command("--file", str(file), "--out", str(tmp_path / "answers.jsonl"))
    assert result.exit_code == 1
    (failed,) = [row for row in rows(tmp_path / "answers.jsonl") if "error" in row]
    assert failed["error"]["type"] == "InvalidRequestError"
    assert "1 answered, 0 abstained, 1 failed" in result.stderr


def test_a_second_run_goes_on_where_the_first_stopped(
    command: Command, replay: tuple[Replay, str], tmp_path: Path
) -> None:
    file = questions_file(tmp_path, "response-answer", "refused", "response-tie")
    out = tmp_path / "answers.jsonl"
    command("--file", str(file), "--out", str(out))
    out.write_text(out.read_text() + '{"line": 3, "question": "resp')
    before = len(replay[0].asked)
    result = command("--file", str(file), "--out", str(out))
    assert [asked["question"] for asked in replay[0].asked[before:]] == ["refused"]
    assert "2 of 3 questions are answered" in result.stderr
    assert "2 answered, 0 abstained, 1 failed" in result.stderr
    assert sorted(row["line"] for row in rows(out)) == [1, 2, 3]


def test_answers_to_other_questions_are_not_mixed(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    command("--file", str(questions_file(tmp_path, "response-answer")), "--out", str(out), "-t", "0.8")
    before = out.read_text()
    other = command("--file", str(questions_file(tmp_path, "response-tie")), "--out", str(out))
    assert (other.exit_code, "other questions" in other.stderr) == (1, True)
    same = questions_file(tmp_path, "response-answer")
    risky = command("--file", str(same), "--out", str(out), "-t", "0.5")
    assert (risky.exit_code, "risk_threshold 0.8, not 0.5" in risky.stderr) == (1, True)
    assert out.read_text() == before


@pytest.mark.parametrize("line", ["{", "7", '{"question": 7}', '{"question": ""}', '{"ask": "7 * 8?"}'])
def test_a_line_that_is_no_question_is_named(command: Command, tmp_path: Path, line: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('"response-answer"\n\n' + line + "\n")
    result = command("--file", str(file), "--out", str(tmp_path / "answers.jsonl"))
    assert result.exit_code == 1
    assert "line 3" in result.stderr
    assert not (tmp_path / "answers.jsonl").exists()


def test_it_gives_up_when_everything_fails(command: Command, tmp_path: Path) -> None:
    file = questions_file(tmp_path, *["refused"] * 50)
    result = command("--file", str(file), "--out", str(tmp_path / "answers.jsonl"), "--concurrency", "1")
    assert result.exit_code == 1
    assert len(rows(tmp_path / "answers.jsonl")) == 10
    assert "gave up after 10 failures in a row" in result.stderr
