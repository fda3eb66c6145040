"""The same cluster with real vLLM in both replicas: what dies with one of them, and what comes back."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from demur_client import AsyncClient, RetryPolicy
from engine_processes import engines_of
from local_ray import Cluster, local_cluster, until
from tiny_model import make_tiny_model

pytestmark = [pytest.mark.operations, pytest.mark.timeout(900)]

QUESTIONS = [f"What is {i} + {i}?" for i in range(8)]
RETRY = RetryPolicy(max_retries=20, first_pause=0.5, longest_pause=5.0)
ASKED = {"contract": "response", "risk_threshold": 0.0, "temperature": 0.0, "max_tokens": 60}
ASKED |= {"include_raw": True, "include_withheld": True}  # what a random model writes is hardly ever an answer
# Float32: in bfloat16 what else is in the batch decides near ties between the tokens of a random model.
ENGINE = {"dtype": "float32", "max_model_len": 512, "max_num_seqs": 16, "enforce_eager": True}
ENGINE |= {"kv_cache_memory_bytes": 2**26}


@pytest.fixture(scope="module")
def cluster(deploy: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    model = make_tiny_model(tmp_path_factory.mktemp("model"))
    settings = {"model": str(model), "force_contract": "always", "allow_anonymous": True, "allow_withheld": True}
    with local_cluster(deploy, {"settings": settings, "engine_args": ENGINE}) as running:
        yield running


async def _ask(cluster: Cluster, rounds: int, killing: asyncio.Task[None] | None = None) -> list[list[str | None]]:
    """All questions at once, some times over: each round's raw outputs, in the order of the questions."""
    async with AsyncClient(base_url=cluster.url, timeout=180.0, retry=RETRY) as client:

        async def one(question: str) -> str | None:
            answer = await client.answer(question, **ASKED)
            return answer.raw

        found = [await asyncio.gather(*map(one, QUESTIONS)) for _ in range(rounds)]
        if killing is not None:
            await killing
        return found


async def _ask_and_kill(cluster: Cluster, victim: psutil.Process) -> list[list[str | None]]:
    async def kill() -> None:
        await asyncio.sleep(0.5)
        victim.kill()

    return await _ask(cluster, 6, asyncio.create_task(kill()))


def _each_has_its_engine(cluster: Cluster) -> bool:
    """An engine that died is loaded again while its replica stays, and Ray Serve calls that replica running."""
    return len(replicas := cluster.replicas()) == 2 and all(map(engines_of, replicas))


def test_every_question_is_answered_the_same_when_a_replica_is_killed(cluster: Cluster) -> None:
    [quiet] = asyncio.run(_ask(cluster, 1))
    assert all(quiet)
    assert until(lambda: _each_has_its_engine(cluster)), cluster.logged()
    victim = cluster.replicas()[0]
    engines = engines_of(victim)
    assert engines

    for answered in asyncio.run(_ask_and_kill(cluster, victim)):
        assert answered == quiet

    assert psutil.wait_procs(engines, 60)[1] == []  # no engine stays behind without its replica
    assert until(cluster.is_whole), cluster.logged()
    assert victim not in cluster.replicas()
