"""The page's modules by themselves: their types hold, also against the server's own schema, and no rule is broken."""

import json
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
ROOT = Path(__file__).parents[2]
NODE = Path(__file__).parent / "node"


def run(*command: str | Path, **more: str) -> tuple[int, str]:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, input=more.get("given"))
    return done.returncode, done.stdout + done.stderr


def test_types_and_rules_hold(tmp_path) -> None:
    code, said = run("scripts/check-page")
    assert code == 0, said

    # The same on what is wrong: a field that the server does not have, and a string that becomes markup.
    (tmp_path / "wrong.js").write_text("export const wrong = (/** @type {Reply} */ reply) => reply.sureness;\n")
    files = [str(tmp_path / "wrong.js"), str(NODE / "wire.d.ts")]
    (tmp_path / "tsconfig.json").write_text(json.dumps({"extends": str(NODE / "tsconfig.json"), "include": files}))
    code, said = run(NODE / "node_modules/.bin/tsc", "--project", tmp_path)
    assert code != 0
    assert "Property 'sureness' does not exist" in said
    rules = ("--config", NODE / "eslint.config.js", "--stdin", "--stdin-filename", "wrong.js")
    code, said = run(NODE / "node_modules/.bin/eslint", *rules, given="document.body.innerHTML = location.hash;\n")
    assert code != 0
    assert "must never become markup" in said
