"""The arrows between the rooms, checked in fresh processes."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SERVER = ROOT / "server" / "demur"
HEAVY = {"fastapi", "starlette", "httpx", "torch", "transformers", "vllm", "ray", "verl"}
HEAVY |= {"sympy", "math_verify", "pint", "babel"}


def modules(folder: Path, root: Path) -> list[str]:
    return sorted(
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for path in folder.rglob("*.py")
    )


def loaded_by(names: list[str]) -> set[str]:
    code = f"import importlib, json, sys; [importlib.import_module(n) for n in {names!r}]; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(run.stdout)}


def test_the_core_loads_nothing_heavy():
    assert not loaded_by(modules(SERVER / "core", ROOT / "server")) & HEAVY


def test_prompts_and_the_engine_port_load_nothing_heavy():
    assert not loaded_by(["demur.prompts", "demur.engine.base", "demur.engine.scripted"]) & HEAVY


def test_applying_a_calibrator_needs_nothing_that_fits_one():
    """A server has no scikit-learn, and need not have scipy."""
    loaded = loaded_by(["demur.calibration.store", "demur.answering.calibrator_choice"])
    assert not loaded & {"scipy", "sklearn", "matplotlib", "jinja2", "pyarrow", "fastapi"}


def test_help_needs_no_model_library():
    assert not loaded_by(["demur.cli"]) & (HEAVY - {"httpx", "starlette", "fastapi"})


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize(
    ("room", "banned"),
    [
        (
            "core",
            ("demur.engine", "demur.answering", "demur.api", "demur.evaluation", "demur.prompts", "demur_training"),
        ),
        (
            "records",
            ("demur.api", "demur.answering", "demur.core", "demur.engine", "demur.evaluation", "demur_client"),
        ),
        ("engine", ("demur.answering", "demur.api", "demur.evaluation", "demur_training")),
        ("answering", ("demur.api", "demur.evaluation", "demur_training", "fastapi", "vllm")),
        ("evaluation", ("demur.api", "demur.answering", "demur_client", "demur_training", "vllm")),
    ],
)
def test_arrows_point_inwards(room, banned):
    for path in (SERVER / room).rglob("*.py"):
        wrong = [name for name in imports(path) if name.startswith(banned)]
        assert not wrong, f"{path.relative_to(ROOT)} imports {wrong}"


def test_the_product_never_imports_an_example():
    examples = tuple(path.name for path in (ROOT / "examples").glob("*/*") if (path / "__init__.py").is_file())
    assert "demur_smol_lab" in examples
    for folder in ("server", "training", "clients/python/src", "bench"):
        for path in (ROOT / folder).rglob("*.py"):
            wrong = [name for name in imports(path) if name.partition(".")[0] in examples]
            assert not wrong, f"{path.relative_to(ROOT)} imports {wrong}"


def test_the_client_knows_nothing_of_the_server():
    for path in (ROOT / "clients" / "python" / "src").rglob("*.py"):
        assert not [name for name in imports(path) if name == "demur" or name.startswith(("demur.", "demur_training"))]


def test_only_serving_imports_the_api():
    for path in SERVER.rglob("*.py"):
        if path.relative_to(SERVER).parts[0] not in ("api", "serving"):
            assert not [name for name in imports(path) if f"{name}.".startswith("demur.api.")], path
