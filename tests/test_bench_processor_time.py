"""The benchmarks' processor time of another process."""

import subprocess
import sys

from bench.processor_time import seconds_of

THREAD_THAT_ENDS = """
import threading, time

def work():
    while time.thread_time() < 0.3:
        pass

thread = threading.Thread(target=work)
thread.start()
thread.join()
print("ended", flush=True)
input()
"""


def test_what_a_thread_took_counts_after_it_has_ended() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", THREAD_THAT_ENDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ended\n"

        took = seconds_of([process.pid])

        process.communicate("\n")
    assert 0.3 <= took < 30
    assert seconds_of([process.pid]) == 0
