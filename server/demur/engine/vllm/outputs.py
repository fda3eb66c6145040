"""vLLM's outputs of one request, with a count of the tokens that nobody read because reading stopped."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from demur.engine.base import Untold

if TYPE_CHECKING:
    from vllm.outputs import RequestOutput
    from vllm.v1.engine.async_llm import AsyncLLM

ABORT_TIMEOUT = 0.05
"""Seconds that vLLM may take to tell what it had of a request that is aborted; it takes one turn of the event loop."""


async def counted(
    llm: "AsyncLLM", outputs: "AsyncGenerator[RequestOutput, None]", request_id: str, untold: Untold
) -> "AsyncGenerator[RequestOutput, None]":
    """The same outputs. Closed or cancelled before the last of them, it aborts the request in vLLM, whose answer to
    that holds the tokens that were generated since the output before; these go into `untold`.

    Cancelling the wait for an output would end the generator that tells them, so that it is shielded: one task for each
    output, which is dear where every token is one.
    """
    async with aclosing(outputs):
        waiting: asyncio.Future[RequestOutput | None] | None = None
        finished = False
        try:
            while not finished:
                waiting = asyncio.ensure_future(_next(outputs))
                output = await asyncio.shield(waiting)
                waiting, finished = None, output is None or output.finished
                if output is not None:
                    yield output
        except (asyncio.CancelledError, GeneratorExit):
            if not finished:
                untold.tokens += await _aborted(llm, outputs, request_id, waiting)
            raise


async def _next(outputs: "AsyncGenerator[RequestOutput, None]") -> "RequestOutput | None":
    return await anext(outputs, None)


async def _aborted(
    llm: "AsyncLLM",
    outputs: "AsyncGenerator[RequestOutput, None]",
    request_id: str,
    waiting: "asyncio.Future[RequestOutput | None] | None",
) -> int:
    """Tokens in the outputs that were still to come; none are told of a request that has not begun, or has failed."""
    from vllm.v1.engine.exceptions import EngineDeadError

    tokens, rest = 0, waiting or asyncio.ensure_future(_next(outputs))
    try:
        with suppress(TimeoutError, EngineDeadError):
            async with asyncio.timeout(ABORT_TIMEOUT):
                await llm.abort(request_id)
                while (output := await rest) is not None:
                    tokens += sum(len(piece.token_ids) for piece in output.outputs)
                    if output.finished:
                        break
                    rest = asyncio.ensure_future(_next(outputs))
    finally:
        rest.cancel()
        await asyncio.gather(rest, return_exceptions=True)
    return tokens
