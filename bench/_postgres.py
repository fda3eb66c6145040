"""A PostgreSQL of its own on a free port, for tests and benchmarks: Debian's programs, a folder that goes away."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MISSING = "PostgreSQL is needed: run scripts/setup-operations, or on Debian: sudo apt-get install postgresql"
USER = "nobody"
"""Who runs it where this is root's process: PostgreSQL refuses to be root's."""


def programs() -> Path:
    """The folder of initdb and pg_ctl. Raises FileNotFoundError."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    on_path = shutil.which("pg_ctl")
    if not found and on_path is None:
        raise FileNotFoundError(MISSING)
    return found[-1].parent if found else Path(str(on_path)).parent


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a new, empty database; the server ends with the context."""
    bin_folder = programs()
    with tempfile.TemporaryDirectory(prefix="demur-pg-") as folder:
        if os.getuid() == 0:
            owner = pwd.getpwnam(USER)
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        data = f"{folder}/data"
        _run(bin_folder / "initdb", "-D", data, "-U", "demur", "-A", "trust", "-E", "UTF8", "--locale=C")
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1"
        _run(bin_folder / "pg_ctl", "-D", data, "-o", options, "-l", f"{folder}/log", "-w", "start")
        try:
            yield f"postgresql://demur@127.0.0.1:{port}/postgres"
        finally:
            _run(bin_folder / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")


def _run(program: Path, *arguments: str) -> None:
    user = USER if os.getuid() == 0 else None
    done = subprocess.run(
        [program, *arguments], user=user, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{program.name} failed: {done.stderr}")
