"""The critic port: token ids in, one value for each of them out; and the fake that ships.

A critic is the value model of a PPO run. Its value at a token is the success it expects of an answer that has come so
far; of single steps it says nothing.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, runtime_checkable

from demur.engine.base import EngineDead, EngineError, EngineRestarting, Prompt
from demur.engine.restarting import RestartBudget


class CriticUnavailable(EngineError):
    """The critic that the model comes with cannot be loaded."""


class Critic(Protocol):
    """The value head of a model, over token ids that its generator wrote. It generates nothing."""

    async def values(self, token_ids: Sequence[int], *, request_id: str) -> list[float]:
        """The head's output at each token, as it is: no sigmoid, no clipping. One prefill.

        Cancelling stops the work. Raises CriticUnavailable, EngineDead, EngineOverloaded, or EngineError.
        """
        ...

    async def check(self) -> None:
        """Return when the critic can take work; raise EngineDead otherwise."""
        ...

    async def close(self) -> None:
        """Stop the critic and free what it holds."""
        ...


@runtime_checkable
class TokenTexts(Protocol):
    """An engine that knows the text of its tokens."""

    def pieces(self, prompt: Prompt, token_ids: Sequence[int]) -> list[str]:
        """What each token of one output adds to its text. They join to the text."""
        ...


class LazyCritic:
    """A critic that is loaded when it is first asked for, and again when it has died. Whoever asks meanwhile waits."""

    def __init__(self, load: Callable[[], Awaitable[Critic]], restarts: RestartBudget | None = None) -> None:
        self._load = load
        self._restarts = restarts or RestartBudget(most=0, window=1.0)
        self._loading: asyncio.Future[Critic] | None = None
        self._dead: Critic | None = None

    async def ready(self) -> Critic:
        """The critic, loaded now unless it is already. One that cannot be loaded is not tried again: each call then
        raises what loading raised, CriticUnavailable."""
        if self._loading is None:
            self._loading = asyncio.ensure_future(self._load())
        return await asyncio.shield(self._loading)  # a caller that gives up does not stop it for the others

    async def values(self, token_ids: Sequence[int], *, request_id: str) -> list[float]:
        """The value at each token, by the critic that is loaded first where it is not.

        Raises EngineRestarting when the critic died over this, CriticUnavailable when it did so too often or cannot be
        loaded, and what `Critic.values` raises.
        """
        critic = await self.ready()
        try:
            await critic.check()
            return await critic.values(token_ids, request_id=request_id)
        except EngineDead as error:
            self._lost(critic)
            raise EngineRestarting("the critic died and is loaded again") from error

    async def check(self) -> None:
        """Always return: nothing is wrong with a critic that is not loaded, which happens when somebody asks."""

    async def close(self) -> None:
        """Close the critic, also while it is being loaded."""
        if self._loading is None:
            return
        self._loading.cancel()
        with contextlib.suppress(asyncio.CancelledError, EngineError):
            await (await self._loading).close()

    def _lost(self, critic: Critic) -> None:
        """Load another one in its place. Many requests may find the same one dead."""
        if critic is not self._dead:
            self._dead = critic
            self._loading = asyncio.ensure_future(self._again(critic))

    async def _again(self, dead: Critic) -> Critic:
        with contextlib.suppress(EngineError):
            await dead.close()
        pause = self._restarts.next_pause(asyncio.get_running_loop().time())
        if pause is None:
            raise CriticUnavailable("the critic died too often")
        await asyncio.sleep(pause)
        return await self._load()
