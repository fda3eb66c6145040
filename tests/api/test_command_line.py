import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import httpx
import pytest

import demur
from collapsing_kernel import needs_huge_pages
from demur.api.app import create_app
from demur.cli import main
from demur.cli.serve import RecordOptions, ServeOptions
from demur.engine.base import EngineDead
from demur.engine.scripted import Script, ScriptedEngine
from demur.manifest import Manifest
from demur.serving.command import run
from demur.serving.engine_args import BadEngineArgument, parse_options, parse_pairs
from demur.serving.server import EXIT_ENGINE_DIED, bind, serve_app
from demur.settings import Settings

VECTORS = Path(__file__).parents[1] / "vectors"


def command(*arguments: str, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """`demur` with these arguments, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "demur", *arguments],
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        env=os.environ | {"COLUMNS": "120"} | environment,
    )


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A demo server in a process of its own, and its address as it printed it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "demur", "serve", "--engine", "scripted", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("arguments", "missing", "hint"),
    [
        (["ask", "q"], "demur_client", "demur: this command needs the client: pip install demur-client"),
        (["metrics", "-"], "numpy", 'demur: this command needs numpy: pip install "demur[evaluation]"'),
    ],
)
def test_a_command_whose_packages_are_missing_says_what_to_install(arguments, missing, hint) -> None:
    hidden = f"import sys; sys.modules[{missing!r}] = None; from demur.cli import main; main({arguments!r})"
    ran = subprocess.run([sys.executable, "-c", hidden], capture_output=True, encoding="utf-8", timeout=60)
    assert ran.returncode == 1
    assert ran.stderr.startswith(hint)


def test_help_and_version_load_nothing_heavy() -> None:
    script = "import sys; from demur.cli import main; main(sys.argv[1:], standalone_mode=False); print(*sys.modules)"
    for option in ("--help", "--version"):
        done = subprocess.run([sys.executable, "-c", script, option], capture_output=True, encoding="utf-8", check=True)
        loaded = set(done.stdout.splitlines()[-1].split())
        assert "demur.cli" in loaded
        assert not loaded & {"torch", "vllm", "fastapi", "httpx", "numpy", "uvicorn", "demur.serving", "demur.api"}


@pytest.mark.parametrize(
    "arguments", [["parse", "out.txt"], ["metrics", "rows.csv"], ["ask", "q", "--url", "http://127.0.0.1:9"]]
)
def test_what_needs_no_server_loads_none(arguments, tmp_path) -> None:
    (tmp_path / "out.txt").write_text("Answer: 4\nConfidence: 0.9")
    (tmp_path / "rows.csv").write_text("confidence,correct\n0.9,1\n0.4,0\n")
    script = "import atexit, sys; atexit.register(lambda: print(*sys.modules)); from demur.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, encoding="utf-8", cwd=tmp_path, timeout=100
    )
    loaded = set(ran.stdout.splitlines()[-1].split())
    assert "demur.cli" in loaded, ran.stderr
    servers = {"torch", "vllm", "fastapi", "starlette", "uvicorn", "prometheus_client", "demur.serving", "demur.api"}
    assert not loaded & {*servers, "demur.answering", "demur.engine", "demur.settings"}


def test_version() -> None:
    assert command("--version").stdout.strip() == demur.__version__


def test_every_command_is_in_the_help() -> None:
    shown = command("--help").stdout
    for name in ("serve", "ask", "parse", "keys", "model", "metrics", "evaluate", "compare", "report"):
        assert re.search(rf"\b{name}\b", shown)


def test_a_command_of_another_room_shows_its_own_help() -> None:
    assert "--risk-threshold" in command("ask", "--help").stdout


@pytest.mark.parametrize("file", sorted((VECTORS / "parse").glob("*.json")), ids=lambda file: file.stem)
def test_parse(file, tmp_path, capsys) -> None:
    vector = json.loads(file.read_text())
    (tmp_path / "output.txt").write_text(vector["text"])
    main(["parse", str(tmp_path / "output.txt"), *vector["arguments"]], standalone_mode=False)
    output = json.loads(capsys.readouterr().out)
    assert output.keys() == {"answer", "confidence", "state", "claims", "problems"}
    assert {name: output[name] for name in vector["output"]} == vector["output"]


def test_parse_reads_standard_input() -> None:
    assert json.loads(command("parse", "-", text="Answer: 4\nConfidence: 1").stdout)["answer"] == "4"


def test_parse_reads_a_file_of_any_bytes(tmp_path) -> None:
    file = tmp_path / "output.txt"
    file.write_bytes("Antwort \xff\r\nAnswer: 4\r\nConfidence: 90%".encode("latin-1"))
    assert json.loads(command("parse", str(file)).stdout)["confidence"] == 0.9


def test_parse_without_the_file_is_one_line() -> None:
    done = command("parse", "/nowhere/at/all")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "demur: cannot read /nowhere/at/all: No such file or directory\n"


def test_serve_says_where_and_ends_well_on_sigterm() -> None:
    with serving("-t", "0.2") as (process, line):
        found = re.fullmatch(r"demur answers on (http://127\.0\.0\.1:\d+) with demur-scripted .*\n", line)
        assert found
        reply = httpx.post(f"{found[1]}/v1/answers", json={"question": "What is the capital of Australia?"}).json()
        assert (reply["answer"], reply["risk_threshold"], reply["calibrated"]) == ("Canberra", 0.2, False)
        process.send_signal(signal.SIGTERM)
        rest, errors = process.communicate(timeout=20)
    assert (process.returncode, rest) == (0, "")
    assert "Traceback" not in errors


@needs_huge_pages
def test_what_a_server_has_loaded_comes_into_huge_pages() -> None:
    with serving() as (process, _):
        memory, began = Path(f"/proc/{process.pid}/smaps_rollup"), time.monotonic()
        while not re.search(r"^AnonHugePages: +[1-9]", memory.read_text(), re.MULTILINE):
            assert time.monotonic() < began + 20, memory.read_text()
            time.sleep(0.1)


def test_a_busy_port_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        done = command("serve", "--engine", "scripted", "--port", port)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"demur: port {port} on 127.0.0.1 is in use; give another --port\n"


@pytest.mark.parametrize(
    ("chosen", "pairs", "options", "words"),
    [
        ({"port": 70000}, [], [], "--port"),
        ({"risk_threshold": 1.5}, [], [], "--risk-threshold"),
        ({"keep_alive": 0.0}, [], [], "DEMUR_KEEP_ALIVE"),
        ({}, ["dtype"], [], "KEY=VALUE"),
        ({}, [], ["dtype"], "--max-model-len 2048"),
        ({"host": "no.such.host.invalid"}, [], [], "--host"),
    ],
)
def test_wrong_settings_are_one_line_that_names_them(capsys, chosen, pairs, options, words) -> None:
    assert run({"engine": "scripted", **chosen}, pairs, options) in (1, 2)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("demur: ")
    assert said.err.count("\n") == 1
    assert words in said.err


def test_settings_come_from_the_environment_too() -> None:
    done = command("serve", "--engine", "scripted", DEMUR_MAX_SAMPLES="many")
    assert (done.returncode, done.stdout) == (2, "")
    assert "DEMUR_MAX_SAMPLES" in done.stderr


def test_engine_arguments() -> None:
    assert parse_pairs(["dtype=float32", "max_model_len=2048", "--enforce-eager=true"]) == {
        "dtype": "float32",
        "max_model_len": 2048,
        "enforce_eager": True,
    }
    words = ["--tensor-parallel-size", "2", "--enforce-eager", "--no-enable-prefix-caching", "--dtype=half"]
    assert parse_options([*words, "--seed", "-1"]) == {
        "tensor_parallel_size": 2,
        "enforce_eager": True,
        "enable_prefix_caching": False,
        "dtype": "half",
        "seed": -1,
    }


def test_the_process_ends_when_the_engine_dies(caplog) -> None:
    engine = ScriptedEngine({"q": Script(["Answer: 4"], error=EngineDead("no more memory"))})
    settings = Settings(port=0)
    app = create_app(engine, Manifest(name="demur-test", calibrated=True), settings)

    async def ask_and_wait() -> tuple[int, int]:
        ready = asyncio.Event()
        with bind(settings.host, settings.port) as listener:
            serving = asyncio.create_task(serve_app(app, settings, listener, ready.set))
            await asyncio.wait_for(ready.wait(), 10)
            async with httpx.AsyncClient() as client:
                url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/answers"
                reply = await client.post(url, json={"question": "q"})
            return reply.status_code, await asyncio.wait_for(serving, 20)

    assert asyncio.run(ask_and_wait()) == (503, EXIT_ENGINE_DIED)
    assert caplog.records[-1].getMessage() == "the engine died; start the server again"
    assert caplog.records[-1].fields == {"cause": "no more memory"}


@pytest.mark.parametrize("words", [["x"], ["--"], ["--a", "1", "2"], ["-x"]])
def test_what_is_no_engine_argument(words) -> None:
    with pytest.raises(BadEngineArgument):
        parse_options(words)


def test_every_option_of_serve_is_a_setting():
    options = {field.name for kind in (ServeOptions, RecordOptions) for field in fields(kind)}
    assert options <= set(Settings.model_fields)
