"""Whose turn it is: by the time that callers and requests have had, and however they leave."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from demur.grading.fair_queue import FairQueue, Place


class Work:
    """Pieces of work that end when they are told to; `begun` is the order in which they began."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}

    def piece(self, name: str) -> Callable[[], Awaitable[str]]:
        self._ends[name] = asyncio.Event()

        async def work() -> str:
            self.begun.append(name)
            await self._ends[name].wait()
            return name

        return work

    def end(self, name: str) -> None:
        self._ends[name].set()


async def settle() -> None:
    """Let everything happen that can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def in_turn(work: Work, names: list[str]) -> list[str]:
    """End each piece as it begins."""
    for i in range(len(names)):
        await settle()
        await asyncio.sleep(0.002)  # so that each takes a while
        work.end(work.begun[i])
    return work.begun


def submit(place: Place, work: Work, *names: str) -> "list[asyncio.Task[str]]":
    return [asyncio.create_task(place.run(work.piece(name))) for name in names]


def test_a_caller_with_little_does_not_wait_behind_one_with_much() -> None:
    async def run() -> list[str]:
        turns, work = FairQueue(1), Work()
        with turns.opened("flood", "a") as flood, turns.opened("quiet", "b") as quiet:
            tasks = submit(flood, work, "f0", "f1", "f2", "f3")
            await settle()
            assert turns.waiting == 3
            tasks += submit(quiet, work, "q0")
            await in_turn(work, ["f0", "f1", "f2", "f3", "q0"])
            await asyncio.gather(*tasks)
            return work.begun

    assert asyncio.run(run()) == ["f0", "q0", "f1", "f2", "f3"]


def test_within_a_caller_a_request_with_little_comes_first() -> None:
    async def run() -> list[str]:
        turns, work = FairQueue(1), Work()
        with turns.opened("", "large") as large, turns.opened("", "small") as small:
            first = submit(large, work, "l0")
            await in_turn(work, ["l0"])
            await asyncio.gather(*first)
            blocker = submit(large, work, "l1")
            await settle()
            tasks = submit(large, work, "l2", "l3")
            await settle()
            tasks += submit(small, work, "s0")
            await in_turn(work, ["l0", "l1", "l2", "l3", "s0"])
            await asyncio.gather(*blocker, *tasks)
            return work.begun

    assert asyncio.run(run()) == ["l0", "l1", "s0", "l2", "l3"]


def test_a_new_caller_starts_level_with_the_others_and_not_before_them_for_ever() -> None:
    async def run() -> list[str]:
        turns, work = FairQueue(1), Work()
        with turns.opened("old", "a") as old:
            first = submit(old, work, "o0")
            await in_turn(work, ["o0"])
            await asyncio.gather(*first)
            with turns.opened("new", "b") as new:
                tasks = submit(old, work, "o1") + submit(new, work, "n0")
                await settle()
                tasks += submit(new, work, "n1") + submit(old, work, "o2")
                await in_turn(work, ["o0", "o1", "n0", "n1", "o2"])
                await asyncio.gather(*tasks)
                return work.begun

    assert asyncio.run(run())[:3] == ["o0", "o1", "n0"]


def test_who_gives_up_while_waiting_is_never_begun() -> None:
    async def run() -> list[str]:
        turns, work = FairQueue(1), Work()
        with turns.opened("", "a") as place:
            one, two, three = submit(place, work, "1", "2", "3")
            await settle()
            two.cancel()
            await settle()
            work.end("1")
            work.end("3")
            assert await asyncio.gather(one, three) == ["1", "3"]
            assert turns.waiting == 0
            return work.begun

    assert asyncio.run(run()) == ["1", "3"]


def test_who_gives_up_at_work_keeps_the_place_until_the_work_is_over() -> None:
    async def run() -> list[str]:
        turns, work = FairQueue(1), Work()
        with turns.opened("", "a") as place:
            one, two = submit(place, work, "1", "2")
            await settle()
            one.cancel()
            await settle()
            assert work.begun == ["1"]
            work.end("1")
            work.end("2")
            assert await two == "2"
            return work.begun

    assert asyncio.run(run()) == ["1", "2"]


def test_work_that_fails_gives_its_place_back() -> None:
    async def run() -> None:
        turns = FairQueue(1)

        async def fails() -> None:
            raise ValueError("no")

        async def works() -> int:
            return 1

        with turns.opened("", "a") as place:
            with pytest.raises(ValueError, match="no"):
                await place.run(fails)
            assert await place.run(works) == 1

    asyncio.run(run())


def test_as_many_run_at_once_as_there_is_room() -> None:
    async def run() -> None:
        turns, work = FairQueue(2), Work()
        with turns.opened("", "a") as place:
            tasks = submit(place, work, "1", "2", "3")
            await settle()
            assert (work.begun, turns.waiting) == (["1", "2"], 1)
            for name in "123":
                work.end(name)
            await asyncio.gather(*tasks)

    asyncio.run(run())
