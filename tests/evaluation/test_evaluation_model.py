"""scripts/evaluation-model makes its folder whole or not at all, checks what it downloaded, and goes on where it was."""

import hashlib
import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "evaluation-model"


@pytest.fixture
def script(monkeypatch) -> ModuleType:
    """The script as a module, with pieces of a few bytes and without PyPI or a model to expand."""
    loader = SourceFileLoader("evaluation_model", str(SCRIPT))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_loader("evaluation_model", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    downloaded: list[int] = []

    def download(part: int, pieces: Path) -> None:
        piece = pieces / f"{part:02}.bin"
        if not piece.is_file():
            downloaded.append(part)
            piece.write_bytes(b"piece %d\n" % part)

    def expand(whole: Path, folder: Path) -> None:
        (folder / "config.json").write_bytes(whole.read_bytes()[:8])

    content = b"".join(b"piece %d\n" % part for part in range(1, module.PARTS + 1))
    for name, value in (
        ("_download", download),
        ("_expand", expand),
        ("SHA256", hashlib.sha256(content).hexdigest()),
        ("downloaded", downloaded),
    ):
        monkeypatch.setattr(module, name, value, raising=False)
    return module


def made(script: ModuleType, monkeypatch, folder: Path, *more: str) -> int:
    monkeypatch.setattr(sys, "argv", ["evaluation-model", "--to", str(folder), *more])
    return script.main()


def test_it_makes_the_folder_once_and_leaves_nothing_beside(script, monkeypatch, tmp_path, capsys) -> None:
    folder = tmp_path / "models" / "stock"
    for _ in range(2):
        assert made(script, monkeypatch, folder) == 0
        assert capsys.readouterr().out == f"{folder}\n"
    assert script.downloaded == list(range(1, script.PARTS + 1))
    assert [path.name for path in folder.parent.iterdir()] == ["stock"]


def test_pieces_of_another_file_are_refused_and_downloaded_again(script, monkeypatch, tmp_path, capsys) -> None:
    folder, right = tmp_path / "stock", script.SHA256
    monkeypatch.setattr(script, "SHA256", "0" * 64)
    assert made(script, monkeypatch, folder) == 1
    assert "they were removed, try again" in capsys.readouterr().err
    assert not folder.exists()
    monkeypatch.setattr(script, "SHA256", right)
    assert made(script, monkeypatch, folder) == 0
    assert len(script.downloaded) == 2 * script.PARTS


def test_what_was_downloaded_stays_when_it_is_stopped(script, monkeypatch, tmp_path) -> None:
    folder, expand = tmp_path / "stock", script._expand

    def stopped(whole: Path, folder: Path) -> None:
        (folder / "half").write_text("half a model")
        raise KeyboardInterrupt

    monkeypatch.setattr(script, "_expand", stopped)
    with pytest.raises(KeyboardInterrupt):
        made(script, monkeypatch, folder)
    assert not folder.exists()
    monkeypatch.setattr(script, "_expand", expand)
    assert made(script, monkeypatch, folder) == 0
    assert len(script.downloaded) == script.PARTS
    assert sorted(path.name for path in folder.iterdir()) == ["config.json"]


def test_a_folder_of_something_else_is_left_alone(script, monkeypatch, tmp_path, capsys) -> None:
    (tmp_path / "photos").mkdir()
    assert made(script, monkeypatch, tmp_path / "photos") == 1
    assert "name another folder with --to" in capsys.readouterr().err
    assert list((tmp_path / "photos").iterdir()) == []


def test_a_hub_that_does_not_answer_is_named(script, monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert made(script, monkeypatch, tmp_path / "model", "--hub", "nobody/nothing") == 1
    assert "the hub does not give nobody/nothing" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()
