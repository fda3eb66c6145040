"""The process that grades: `python -m demur.grading.fork_server`, one JSON object a line in and out.

It imports sympy once, then forks a child and hands it the requests. A child that outlasts a request's limit is killed
and replaced by a fork, which takes milliseconds where a new interpreter takes seconds. The parent of the forks never
looks at an answer itself, so nothing written in one can stop it.

Request: {"op": "canonical" | "equal" | "unit" | "month", "args": [...], "limit": seconds of processor time}.
Reply: {"value": ...} or {"failed": "time" | "error"}; with {"seconds": of processor time} unless it ran out of it.
"""

import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, BinaryIO

MEMORY = 2 << 30
"""Bytes of address space a child may take."""
WALL_SECONDS = 5.0
"""For a child that does not compute but wait. One that computes is stopped by its limit of processor time, which a busy
machine does not shorten."""


class Child:
    """A fork that answers requests until it is killed."""

    def __init__(self, operations: dict[str, Callable[..., Any]]) -> None:
        request_read, request_write = os.pipe()
        reply_read, reply_write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(request_write)
            os.close(reply_read)
            _serve(os.fdopen(request_read, "rb"), os.fdopen(reply_write, "wb"), operations)
        os.close(request_read)
        os.close(reply_write)
        self._requests = os.fdopen(request_write, "wb")
        self._replies = os.fdopen(reply_read, "rb")

    def ask(self, line: bytes) -> bytes | None:
        """The reply line; None when it did not come in time or the child died over it."""
        try:
            self._requests.write(line)
            self._requests.flush()
        except BrokenPipeError:
            return None
        ready, _, _ = select.select([self._replies], [], [], WALL_SECONDS)
        return (self._replies.readline() or None) if ready else None

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        for pipe in (self._replies, self._requests):
            try:
                pipe.close()
            except BrokenPipeError:
                continue  # a request it never read


def _serve(requests: BinaryIO, replies: BinaryIO, operations: dict[str, Callable[..., Any]]) -> None:
    """The child's life. The kernel ends it at the limit of processor time, even inside C code."""
    sys.stdin.close()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in requests:
        request = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, request["limit"])
        before = time.process_time()
        try:
            reply: dict[str, Any] = {"value": operations[request["op"]](*request["args"])}
        except Exception as error:  # noqa: BLE001 - whatever algebra makes of a formula, it is only this formula's
            reply = {"failed": "error", "why": type(error).__name__}
        signal.setitimer(signal.ITIMER_PROF, 0)
        reply["seconds"] = time.process_time() - before
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()
    os._exit(0)


def main() -> None:
    """Serve requests from stdin until it closes. What libraries print goes to stderr, never among the replies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business; it closes our stdin
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from demur.grading import reference, symbolic

    symbolic.warm_up()
    reference.warm_up()
    operations: dict[str, Callable[..., Any]] = {
        "canonical": symbolic.canonical,
        "equal": symbolic.equal,
        "unit": reference.unit,
        "month": reference.month,
    }
    _reply(replies, json.dumps({"ready": True, "missing": reference.MISSING}).encode() + b"\n")
    child = Child(operations)
    for line in sys.stdin.buffer:
        answer = child.ask(line)
        if answer is None:
            child.kill()
            child = Child(operations)
        _reply(replies, answer or b'{"failed": "time"}\n')
    child.kill()


def _reply(replies: BinaryIO, line: bytes) -> None:
    replies.write(line)
    replies.flush()


if __name__ == "__main__":
    main()
