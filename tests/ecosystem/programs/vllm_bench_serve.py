"""vLLM's load generator: ten requests over its openai-chat backend. Run in the server's own environment."""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from reporting import report
from vllm.benchmarks.serve import add_cli_args, main

from tiny_model import make_tiny_model

QUESTION = {"prompt": "How many legs has a spider?", "output_tokens": 32}

with tempfile.TemporaryDirectory() as folder:
    tokenizer = make_tiny_model(Path(folder) / "tiny")
    rows = Path(folder) / "rows.jsonl"
    rows.write_text("".join(json.dumps(QUESTION) + "\n" for _ in range(10)))
    parser = argparse.ArgumentParser()
    add_cli_args(parser)
    options = ["--backend", "openai-chat", "--base-url", report.url().removesuffix("/v1")]
    options += ["--endpoint", "/v1/chat/completions", "--model", "demur-test", "--tokenizer", str(tokenizer)]
    options += ["--dataset-name", "custom", "--dataset-path", str(rows), "--num-prompts", "10", "--disable-tqdm"]
    options += ["--save-result", "--result-dir", folder, "--result-filename", "result.json"]
    told, sys.stdout = sys.stdout, sys.stderr
    main(parser.parse_args(options))
    sys.stdout = told
    result = json.loads((Path(folder) / "result.json").read_text())
    report("load", result["completed"], result["failed"])
