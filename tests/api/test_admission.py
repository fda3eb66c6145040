"""Who may start, who waits and who is turned away, counted in samples and tokens."""

import asyncio
from contextlib import AsyncExitStack, suppress

import httpx
import pytest

from demur.answering.deadline import Deadline
from demur.answering.errors import DeadlineExceeded
from demur.api.admission import Admission, Cost
from demur.api.errors import ApiError
from demur.engine.scripted import Gate, Script, ScriptedEngine
from demur.observability.metrics import Metrics

RESPONSE = "Two and two.\nAnswer: 4\nConfidence: 0.9"
WIDE = 10**9


class Door:
    """An admission whose visitors stay until they are told to leave; `inside` are their names, oldest first."""

    def __init__(self, room: Cost, waiting_room: Cost) -> None:
        self.admission = Admission(room, waiting_room, Metrics())
        self.inside: list[str] = []
        self.refused: dict[str, int] = {}
        self._leaving: dict[str, asyncio.Event] = {}
        self._visits: list[asyncio.Task[None]] = []

    async def come(self, name: str, samples: int = 1, tokens: int = 1, caller: str = "", at_most: int | None = None):
        """A visitor with a name of its own comes; returns once it is inside, in line, or gone."""
        self._visits.append(asyncio.create_task(self._visit(name, Cost(samples, tokens), caller, at_most)))
        await self.settle()

    async def leave(self, name: str) -> None:
        self._leaving[name].set()
        await self.settle()

    async def give_up(self, index: int) -> None:
        self._visits[index].cancel()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def all_leave(self) -> None:
        while self._leaving:
            for event in list(self._leaving.values()):
                event.set()
            await self.settle()
        await asyncio.gather(*self._visits, return_exceptions=True)

    async def _visit(self, name: str, load: Cost, caller: str, at_most: int | None) -> None:
        try:
            async with self.admission.admitted(caller, load, Deadline(60), at_most=at_most):
                self.inside.append(name)
                self._leaving[name] = asyncio.Event()
                try:
                    await self._leaving[name].wait()
                finally:
                    del self._leaving[name]
                    self.inside.remove(name)
        except ApiError as error:
            self.refused[name] = error.status if 1 <= int(error.headers["retry-after"]) <= 60 else 0


def play(scene, room: tuple[int, int], waiting_room: tuple[int, int]) -> None:
    async def whole() -> None:
        door = Door(Cost(*room), Cost(*waiting_room))
        await scene(door)
        await door.all_leave()
        assert (door.admission.running, door.admission.queued) == (Cost(), Cost())
        assert door.admission.waiting_requests == 0

    asyncio.run(whole())


@pytest.mark.parametrize(("room", "waiting_room"), [((4, WIDE), (4, WIDE)), ((WIDE, 40), (WIDE, 40))])
def test_samples_and_tokens_are_counted_not_requests(room, waiting_room) -> None:
    async def scene(door: Door) -> None:
        await door.come("three", 3, 30)
        await door.come("two", 2, 20)
        assert door.inside == ["three"]
        await door.come("one", 1, 10)  # would fit, but nobody overtakes
        assert door.inside == ["three"]
        await door.come("too many", 2, 20)
        assert door.refused == {"too many": 429}
        await door.leave("three")
        assert door.inside == ["two", "one"]

    play(scene, room, waiting_room)


def test_what_is_larger_than_the_whole_room_runs_alone() -> None:
    async def scene(door: Door) -> None:
        await door.come("huge", 64)
        await door.come("small", 1)
        assert door.inside == ["huge"]
        await door.come("other huge", 64)
        assert door.refused == {"other huge": 429}
        await door.leave("huge")
        assert door.inside == ["small"]

    play(scene, (4, WIDE), (8, WIDE))


def test_without_a_waiting_room_what_does_not_fit_is_refused() -> None:
    async def scene(door: Door) -> None:
        await door.come("first")
        await door.come("second")
        assert (door.inside, door.refused) == (["first"], {"second": 429})

    play(scene, (1, WIDE), (0, 0))


def test_who_floods_waits_behind_itself_only() -> None:
    async def scene(door: Door) -> None:
        for i in range(8):
            await door.come(f"flood {i}", caller="flood")
        await door.come("calm 0", caller="calm")
        await door.come("calm 1", caller="calm")
        order = []
        for _ in range(5):
            order += door.inside
            await door.leave(door.inside[0])
        assert order[0] == "flood 0"
        assert [name.split()[0] for name in order[1:5]].count("calm") == 2
        assert order.index("calm 0") <= 2

    play(scene, (1, WIDE), (20, WIDE))


def test_turns_are_taken_by_tokens() -> None:
    async def scene(door: Door) -> None:
        await door.come("first")
        for i in range(3):
            await door.come(f"long {i}", tokens=100, caller="long")
        for i in range(6):
            await door.come(f"short {i}", tokens=50, caller="short")
        await door.leave("first")
        order = []
        for _ in range(6):
            order += door.inside
            await door.leave(door.inside[0])
        assert sum(name.startswith("short") for name in order) == 4

    play(scene, (1, WIDE), (20, WIDE))


def test_a_full_waiting_room_turns_away_the_last_of_the_longest_line() -> None:
    async def scene(door: Door) -> None:
        for i in range(6):
            await door.come(f"flood {i}", caller="flood")
        assert door.refused == {"flood 5": 429}
        await door.come("calm 0", caller="calm")
        assert door.refused == {"flood 5": 429, "flood 4": 429}
        await door.come("calm 1", caller="calm")
        await door.come("calm 2", caller="calm")
        assert sorted(door.refused) == ["calm 2", "flood 3", "flood 4", "flood 5"]

    play(scene, (1, WIDE), (4, WIDE))


def test_a_callers_own_ceiling_holds_up_nobody_else() -> None:
    async def scene(door: Door) -> None:
        await door.come("mine 0", 2, caller="me", at_most=2)
        await door.come("mine 1", 1, caller="me", at_most=2)
        await door.come("theirs", 2, caller="they")
        assert door.inside == ["mine 0", "theirs"]
        await door.leave("mine 0")
        assert door.inside == ["theirs", "mine 1"]

    play(scene, (8, WIDE), (8, WIDE))


def test_who_gives_up_frees_its_place() -> None:
    async def scene(door: Door) -> None:
        await door.come("first", 4)
        await door.come("blocks", 4)
        await door.come("behind", 1)
        await door.give_up(1)
        assert door.admission.queued == Cost(1, 1)
        await door.give_up(0)
        assert door.inside == ["behind"]

    play(scene, (4, WIDE), (8, WIDE))


def test_admitted_and_given_up_in_the_same_moment() -> None:
    async def scene(door: Door) -> None:
        await door.come("first")
        await door.come("second")
        door._leaving["first"].set()
        for _ in range(3):  # "first" has left, "second" is admitted and does not know yet
            await asyncio.sleep(0)
            if door.admission.waiting_requests == 0:
                break
        await door.give_up(1)
        assert door.inside == []
        await door.come("third")
        assert door.inside == ["third"]

    play(scene, (1, WIDE), (8, WIDE))


def test_closing_tells_those_who_wait_and_emptying_those_inside() -> None:
    async def scene() -> None:
        admission = Admission(Cost(1, WIDE), Cost(8, WIDE), Metrics())
        told: list[int] = []

        async def work() -> None:
            deadline = Deadline(60)
            async with admission.admitted("", Cost(1, 1), deadline):
                await deadline.bound(asyncio.Event().wait())

        async def tell(task: asyncio.Task[None]) -> None:
            try:
                await task
            except ApiError as error:
                told.append(error.status)

        inside, waits = asyncio.create_task(work()), asyncio.create_task(work())
        await asyncio.sleep(0.01)
        admission.close()
        await tell(waits)
        await tell(asyncio.create_task(work()))
        assert (told, inside.done()) == ([503, 503], False)
        admission.abort_running()
        await tell(inside)
        assert told == [503, 503, 503]

    asyncio.run(scene())


def test_the_deadline_holds_while_waiting() -> None:
    async def scene() -> None:
        admission = Admission(Cost(1, WIDE), Cost(8, WIDE), Metrics())
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(admission.admitted("", Cost(1, 1), Deadline(60)))
            with pytest.raises(DeadlineExceeded):
                await stack.enter_async_context(admission.admitted("", Cost(1, 1), Deadline(0.01)))
            assert admission.queued == Cost()
        assert admission.running == Cost()

    asyncio.run(scene())


def counted(server) -> dict[str, float]:
    lines = httpx.get(f"{server.url}/metrics").text.splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["/v1/answers", "/v1/chat/completions"])
def test_a_full_server_says_429_at_once_and_answers_the_rest(run, path, stream) -> None:
    gate = Gate()
    engine = ScriptedEngine({"q": Script([RESPONSE], gates={0: gate})})
    server = run(engine, max_running_samples=2, max_queued_samples=2)
    asked = {"question": "q"} if path == "/v1/answers" else {"messages": [{"role": "user", "content": "q"}]}

    async def crowd() -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=server.url) as client:
            waiting = [
                asyncio.create_task(client.post(path, json=asked | {"samples": 2, "stream": stream})) for _ in range(2)
            ]
            while (await asyncio.to_thread(counted, server))["demur_queued_samples"] < 2:
                pass
            full = await client.post(path, json=asked | {"stream": stream})
            seen = await asyncio.to_thread(counted, server)
            assert (seen["demur_running_samples"], seen["demur_running_samples_limit"]) == (2, 2)
            assert (seen["demur_queued_requests"], seen["demur_queued_samples_limit"]) == (1, 2)
            assert 2 * 1024 < seen["demur_running_tokens"] == seen["demur_queued_tokens"]
            assert seen['demur_refused_total{reason="queue_full"}'] == 1
            gate.open()
            return [full, *await asyncio.gather(*waiting)]

    full, *rest = asyncio.run(crowd())
    assert full.status_code == 429
    assert full.json()["error"]["code"] == "rate_limit_exceeded"
    assert int(full.headers["retry-after"]) >= 1
    assert [reply.status_code for reply in rest] == [200, 200]
    seen = counted(server)
    assert (seen["demur_running_samples"], seen["demur_queued_samples"], seen["demur_queue_seconds_count"]) == (0, 0, 2)


@pytest.mark.parametrize("stream", [False, True])
def test_a_request_that_waits_in_line_keeps_its_timeout_and_its_place_is_freed(run, stream) -> None:
    gate = Gate()
    server = run(ScriptedEngine({"q": Script([RESPONSE], gates={0: gate})}), max_running_samples=1)

    async def both() -> tuple[httpx.Response, httpx.Response]:
        async with httpx.AsyncClient(base_url=server.url) as client:
            first = asyncio.create_task(client.post("/v1/answers", json={"question": "q"}))
            await asyncio.to_thread(gate.wait_reached)
            late = await client.post("/v1/answers", json={"question": "q", "timeout": 0.05, "stream": stream})
            with suppress(httpx.TimeoutException):
                await client.post("/v1/answers", json={"question": "q", "stream": stream}, timeout=0.05)
            while (await asyncio.to_thread(counted, server))["demur_queued_requests"]:
                pass
            gate.open()
            return late, await first

    late, first = asyncio.run(both())
    assert (late.status_code, late.json()["error"]["type"]) == (504, "timeout")
    assert first.status_code == 200
    assert len(server.engine.drawn) == 1
