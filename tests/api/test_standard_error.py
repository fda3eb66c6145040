"""Standard error passes on what this process and its children write, and makes none of them wait."""

import os
import subprocess
import sys

WRITES = """
import os, subprocess, sys
from demur.log_writer import LogWriter
from demur.serving.standard_error import never_waited_for

log = LogWriter(2)
with never_waited_for(log):
    os.write(2, b"from C\\n")
    print("from Python", file=sys.stderr)
    child = "import sys; print('from a child', file=sys.stderr); print('x' * int(sys.argv[1]), file=sys.stderr)"
    subprocess.run([sys.executable, "-c", child, sys.argv[1]], check=True)
log.flush()
os.write(int(sys.argv[2]), b"done")
print("afterwards", file=sys.stderr)
"""


def start(longest: int) -> tuple[subprocess.Popen[bytes], int]:
    """A process that writes; and a descriptor on which it says that it is done."""
    reads, writes = os.pipe()
    command = [sys.executable, "-c", WRITES, str(longest), str(writes)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, pass_fds=[writes])
    os.close(writes)
    return process, reads


def test_what_is_written_arrives_in_order() -> None:
    process, done = start(200_000)
    with process:
        _, said = process.communicate(timeout=60)
    os.close(done)
    first, second, third, *rest, last = said.decode().splitlines()
    assert [first, second, third, last] == ["from C", "from Python", "from a child", "afterwards"]
    assert "".join(rest) == "x" * 200_000
    assert process.returncode == 0


def test_nobody_waits_for_a_reader_that_stalls() -> None:
    process, done = start(2_000_000)  # far more than a pipe holds
    try:
        assert os.read(done, 4) == b"done"
    finally:
        os.close(done)
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
