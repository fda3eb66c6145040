"""The file of keys: a revocation holds for whoever reads it, and its mode, owner and links stay."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from demur.api_keys import ApiKeyStore, KeyFile, KeysError
from demur.api_keys.store import MAX_AGE
from keys_in_files import Clock, add, found, revoke_all

OTHER = 12345
"""A user who is not the one that runs the tests."""
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def linked(file: Path) -> list[Path]:
    """Other names for `file`: a link, a relative one, a link to a link, a linked folder, a folder gone through."""
    folder = file.parent
    names = [folder / name for name in ("one", "relative", "two")]
    for name, target in zip(names, (file, Path(file.name), names[0]), strict=True):
        name.symlink_to(target)
    (folder / "elsewhere").symlink_to(folder)
    return [*names, folder / "elsewhere" / file.name, folder / "elsewhere" / ".." / folder.name / file.name]


def test_a_revocation_by_any_name_reaches_a_server_that_reads_another(file: Path) -> None:
    add(file)
    names = linked(file)
    for name in names:
        text = add(name)
        rings = [ApiKeyStore(each) for each in (file, *names)]
        revoke_all(name)
        assert [found(ring, text) for ring in rings] == [None] * len(rings)
    assert [name.is_symlink() for name in names[:3]] == [True] * 3


def test_a_new_file_comes_where_a_dangling_link_points(file: Path) -> None:
    (file.parent / "link").symlink_to(file)
    text = add(file.parent / "link")
    assert found(ApiKeyStore(file), text)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o660])
def test_the_mode_stays(file: Path, mode: int) -> None:
    add(file)
    file.chmod(mode)
    add(file)
    revoke_all(file)
    assert stat.S_IMODE(file.stat().st_mode) == mode


@as_root
def test_the_owner_stays(file: Path) -> None:
    add(file)
    os.chown(file, OTHER, OTHER + 1)
    add(file)
    assert (file.stat().st_uid, file.stat().st_gid) == (OTHER, OTHER + 1)


@as_root
def test_who_cannot_keep_the_owner_changes_nothing_and_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    for parent in (tmp_path, *tmp_path.parents):
        if "pytest-of-" in str(parent):  # the folders that pytest made
            parent.chmod(0o755)
    file = folder / "keys.json"
    text = add(file)
    file.chmod(0o644)
    (folder / "keys.json.lock").chmod(0o644)
    before = file.read_bytes(), file.stat()
    program = (
        "import os, sys; from demur.api_keys.cli import app; os.setgroups([]); os.setgid(12345); os.setuid(12345); "
        "app(['revoke', 'someone', '--file', sys.argv[1]])"
    )
    done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert all(words in done.stderr for words in ("nothing was changed", "root", str(file)))
    assert (file.read_bytes(), file.stat()) == before
    assert sorted(path.name for path in folder.iterdir()) == ["keys.json", "keys.json.lock"]
    assert found(ApiKeyStore(file), text)


def test_a_hard_link_would_keep_the_old_keys(file: Path) -> None:
    text = add(file)
    os.link(file, file.parent / "other")
    with pytest.raises(KeysError, match="hard links"):
        revoke_all(file)
    assert found(ApiKeyStore(file), text)


def test_a_kubernetes_secret_is_changed_where_it_comes_from(tmp_path: Path) -> None:
    data = tmp_path / "..2026_11_26"
    text = add(data / "keys.json")
    (tmp_path / "..data").symlink_to(data.name)
    (tmp_path / "keys.json").symlink_to("..data/keys.json")
    with pytest.raises(KeysError, match="Kubernetes"):
        revoke_all(tmp_path / "keys.json")
    assert found(ApiKeyStore(tmp_path / "keys.json"), text)


def test_a_secret_that_is_swapped_is_read_again(tmp_path: Path) -> None:
    """The way Kubernetes does it: a new folder, and the link to it moved over the old one."""
    before, after = (add(tmp_path / name / "keys.json") for name in ("..1", "..2"))
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "keys.json").symlink_to("..data/keys.json")
    ring = ApiKeyStore(tmp_path / "keys.json")
    assert [bool(found(ring, text)) for text in (before, after)] == [True, False]
    (tmp_path / "..data_tmp").symlink_to("..2")
    os.replace(tmp_path / "..data_tmp", tmp_path / "..data")
    assert [bool(found(ring, text)) for text in (before, after)] == [False, True]


def test_a_loop_of_links_is_one_line(file: Path) -> None:
    file.symlink_to(file)
    for work in (lambda: ApiKeyStore(file), lambda: revoke_all(file)):
        with pytest.raises(KeysError, match=r"circle|symbolic"):
            work()


def test_a_lock_that_leads_elsewhere_is_not_followed(file: Path) -> None:
    add(file)
    precious = file.parent / "precious"
    precious.write_text("kept")
    lock = file.with_name("keys.json.lock")
    lock.unlink()
    lock.symlink_to(precious)
    with pytest.raises(KeysError):
        revoke_all(file)
    assert precious.read_text() == "kept"


def test_a_file_that_is_mounted_by_itself_says_so(tmp_path: Path) -> None:
    """Docker's `-v keys.json:/etc/demur/keys.json`."""
    source, target = tmp_path / "source.json", tmp_path / "inside" / "keys.json"
    add(source)
    target.parent.mkdir()
    target.touch()
    script = 'mount --bind "$0" "$1" && "$2" -m demur keys revoke someone --file "$1"'
    command = ["unshare", "-rm", "sh", "-c", script, str(source), str(target), sys.executable]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if "demur" not in done.stderr:
        pytest.skip("mounting is not allowed here")
    assert done.returncode == 1
    assert "mount its folder" in done.stderr
    assert len(KeyFile(source).read()) == 1


def test_a_mounted_file_that_is_replaced_outside_is_said_to_be_old(file: Path, caplog) -> None:
    """What such a mount goes on to show has no name any more; so has an open file that was replaced."""
    clock, text = Clock(), add(file)
    with open(file) as inside:
        ring = ApiKeyStore(Path(f"/proc/self/fd/{inside.fileno()}"), clock=clock)
        assert found(ring, text)
        revoke_all(file)
        clock.now += MAX_AGE + 1
        assert found(ring, text) is None
    assert "mount its folder" in str(caplog.records[-1].__dict__["fields"])
