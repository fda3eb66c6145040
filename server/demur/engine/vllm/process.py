"""vLLM's engine process, seen from this one: whether it lives, whether it still replies, and its end."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from demur.engine.base import EngineDead
from demur.engine.vllm.convert import translated_errors
from demur.engine.vllm.startup import Launched, shut_down

if TYPE_CHECKING:
    from vllm.v1.engine.async_llm import AsyncLLM

SILENCE = 120.0
"""Seconds without a reply after which an engine counts as dead: longer than any step of its work should take."""
_NOTICED_WITHIN = 10.0
"""Seconds that vLLM has to see that a process was killed, and to tell the streams that wait for it."""


class EngineProcess:
    """The processes behind one AsyncLLM. `silence` is in seconds."""

    def __init__(self, launched: Launched, silence: float) -> None:
        self._llm = launched.llm
        self._processes = launched.processes
        self._reaper = launched.reaper
        self._silence = silence
        self._heartbeat = Heartbeat(launched.llm)

    async def check(self) -> None:
        """Raises EngineDead when the process is gone, or has been silent for too long: then it is killed.

        Returns at once. A process that was stopped, or is stuck in a step of its work, does not end by itself.
        """
        with translated_errors():
            await self._llm.check_health()
        if self._heartbeat.silence() > self._silence:
            await self._kill()
            raise EngineDead(f"vLLM's engine did not reply for {self._silence:g} seconds")

    async def close(self) -> None:
        """End the processes; takes a few seconds. Streams still open raise EngineDead."""
        self._heartbeat.stop()
        await shut_down(self._llm)
        self._reaper.dismiss()

    async def _kill(self) -> None:
        """With all that it started; returns when streams have been told."""
        import psutil

        for process in self._processes:
            with suppress(psutil.NoSuchProcess):
                for worker in psutil.Process(process.pid).children(recursive=True):
                    worker.kill()
            process.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(_NOTICED_WITHIN):
                while not self._llm.errored:  # noqa: ASYNC110 - vLLM has no event for it
                    await asyncio.sleep(0.05)


class Heartbeat:
    """Asks one small question at a time, which the process answers between two steps of its work."""

    def __init__(self, llm: "AsyncLLM") -> None:
        self._llm = llm
        self._asked: asyncio.Task[bool] | None = None
        self._since = 0.0

    def silence(self) -> float:
        """Seconds that a question has gone without its answer; asks the next one when there is none."""
        now = asyncio.get_running_loop().time()
        if self._asked is None or self._asked.done():
            self.stop()
            self._asked, self._since = asyncio.create_task(self._llm.is_sleeping()), now
        return now - self._since

    def stop(self) -> None:
        """Wait for no answer any more."""
        if self._asked is not None and not self._asked.cancel() and not self._asked.cancelled():
            self._asked.exception()  # looked at, so that asyncio does not report it: check_health tells of a death
