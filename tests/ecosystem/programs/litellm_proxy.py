"""LiteLLM's proxy in front of the server, asked by the official client."""

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import openai
from case import ASK, DOUBT, PERSON, TOOL_HISTORY, Person, report

CONFIG = """
model_list:
  - model_name: served
    litellm_params: {{model: openai/demur-test, api_base: "{url}", api_key: unused, max_retries: 0}}
  - model_name: other
    litellm_params: {{model: openai/other, api_base: "{url}", api_key: unused, max_retries: 0}}
general_settings: {{master_key: {key}}}
"""
SECONDS_TO_START = 240


def ready(client: openai.OpenAI, proxy: "subprocess.Popen[bytes]") -> None:
    """Wait until the proxy answers."""
    last = time.monotonic() + SECONDS_TO_START
    while proxy.poll() is None and time.monotonic() < last:
        try:
            client.models.list()
        except openai.APIConnectionError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit("the proxy did not start")


def say(client: openai.OpenAI) -> None:
    def ask(messages, **fields):
        return client.chat.completions.create(model="served", messages=messages, **fields).choices[0]

    choice = ask(ASK, max_tokens=4096)
    report("answer", choice.message.content, choice.provider_specific_fields["demur"]["confidence"])
    report("abstention", ask(DOUBT).message.content)
    stream = client.chat.completions.create(model="served", messages=ASK, stream=True)
    report("stream", "".join(chunk.choices[0].delta.content or "" for chunk in stream))
    parsed = client.chat.completions.parse(model="served", messages=PERSON, response_format=Person)
    report("structured", parsed.choices[0].message.parsed.model_dump())
    tool = openai.pydantic_function_tool(Person, name="save")
    forced = ask(PERSON, tools=[tool], tool_choice={"type": "function", "function": {"name": "save"}})
    report("tool", json.loads(forced.message.tool_calls[0].function.arguments))
    report("history", ask(TOOL_HISTORY).message.content)
    try:
        ask(ASK, extra_body={"risk_treshold": 0.3})
    except openai.BadRequestError as error:
        report("unknown", error.status_code)
    try:
        client.chat.completions.create(model="other", messages=ASK)
    except openai.NotFoundError as error:
        report("error", "model_not_found" if "no model 'other'" in str(error) else str(error))


with socket.socket() as free, tempfile.TemporaryDirectory() as folder:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
    key = f"sk-{secrets.token_hex(16)}"
    config = Path(folder) / "config.yaml"
    config.write_text(CONFIG.format(url=report.url(), key=key))
    free.close()
    command = [str(Path(sys.executable).with_name("litellm")), "--config", str(config), "--host", "127.0.0.1"]
    with subprocess.Popen([*command, "--port", str(port)], stdout=sys.stderr, env=os.environ) as proxy:
        try:
            asker = openai.OpenAI(base_url=f"http://127.0.0.1:{port}", api_key=key, max_retries=0)
            ready(asker, proxy)
            say(asker)
        finally:
            proxy.terminate()
