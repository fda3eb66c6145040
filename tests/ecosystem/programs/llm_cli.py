"""simonw's llm, as people use it: a command line with a file that names the model."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from reporting import report

MODELS = """
- model_id: served
  model_name: demur-test
  api_base: {url}
  supports_schema: true
- model_id: other
  model_name: other
  api_base: {url}
"""


def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("llm")), *arguments, "--key", "unused"]
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


with tempfile.TemporaryDirectory() as folder:
    os.environ["LLM_USER_PATH"] = folder
    (Path(folder) / "extra-openai-models.yaml").write_text(MODELS.format(url=report.url()))
    spider, millipede = "How many legs has a spider?", "How many legs has a millipede?"
    report("answer", ask("-m", "served", "--no-stream", spider).stdout.rstrip("\n"))
    report("abstention", ask("-m", "served", "--no-stream", millipede).stdout.rstrip("\n"))
    report("stream", ask("-m", "served", spider).stdout.rstrip("\n"))
    person = ask("-m", "served", "--schema", "name, born int", "Ada Lovelace was born in 1815.")
    report("structured", json.loads(person.stdout))
    failed = ask("-m", "other", "--no-stream", spider)  # It prints the message of an error, and not its code.
    if failed.returncode and "no model 'other'" in failed.stderr:
        report("error", "model_not_found")
