"""The Critic port over transformers, in this process, against a forward pass by hand."""

import asyncio
from pathlib import Path

import pytest

from demur.engine.base import EngineDead, EngineError
from demur.engine.transformers_critic import TransformersCritic

torch = pytest.importorskip("torch")
SEQUENCES = [[7, 8, 9, 10], [3], list(range(20, 120))]


@pytest.fixture(scope="module")
def folder(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from demur.model.merging import write_critic

    weight = torch.randn(1, 64, generator=torch.Generator().manual_seed(0)) / 8
    return write_critic(tiny_model, weight, torch.tensor([0.5]), tmp_path_factory.mktemp("critic"))


def by_hand(folder: Path, ids: list[int]) -> list[float]:
    """The head on the trunk's last states, in full precision."""
    from safetensors.torch import load_file
    from transformers import AutoModel

    head = load_file(folder / "model.safetensors")
    with torch.no_grad():
        states = AutoModel.from_pretrained(folder, dtype=torch.float32)(torch.tensor([ids])).last_hidden_state[0]
    return (states @ head["score.weight"].float()[0] + head["score.bias"].float()).tolist()


def test_each_token_has_the_value_of_the_head(folder):
    async def read() -> list[list[float]]:
        critic = await TransformersCritic.start(folder)
        await critic.check()
        found = await asyncio.gather(*(critic.values(ids, request_id=f"{i}") for i, ids in enumerate(SEQUENCES)))
        await critic.close()
        return found

    for ids, found in zip(SEQUENCES, asyncio.run(read()), strict=True):
        assert found == pytest.approx(by_hand(folder, ids), abs=1e-4)


def test_what_cannot_be_read_is_an_error_and_the_next_is_read(folder):
    async def read() -> None:
        critic = await TransformersCritic.start(folder, max_model_len=5)
        with pytest.raises(EngineError, match="at most 5 tokens, not 6"):
            await critic.values([1] * 6, request_id="long")
        with pytest.raises(EngineError, match="cannot read these tokens"):
            await critic.values([10**6], request_id="unknown")
        assert len(await critic.values([1] * 5, request_id="next")) == 5
        await critic.close()

    asyncio.run(read())


def test_who_leaves_while_waiting_is_not_read(folder):
    async def leave() -> list[str]:
        critic, read = await TransformersCritic.start(folder), list[str]()
        begun, go_on = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()
        alone = critic._read

        def slowly(ids: list[int]) -> list[float]:
            read.append(str(ids[0]))
            loop.call_soon_threadsafe(begun.set)
            asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
            return alone(ids)

        critic._read = slowly  # type: ignore[method-assign]
        first, second = (asyncio.create_task(critic.values([n], request_id=f"{n}")) for n in (1, 2))
        await begun.wait()
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        go_on.set()
        assert len(await first) == 1
        await critic.values([3], request_id="3")
        await critic.close()
        return read

    assert asyncio.run(leave()) == ["1", "3"]


def test_a_closed_one_is_dead(folder):
    async def close() -> None:
        critic = await TransformersCritic.start(folder)
        await critic.close()
        with pytest.raises(EngineDead):
            await critic.check()
        with pytest.raises(EngineDead):
            await critic.values([1], request_id="late")

    asyncio.run(close())


def test_a_model_with_more_labels_is_no_critic(tiny_model, tmp_path):
    from transformers import AutoModelForTokenClassification

    AutoModelForTokenClassification.from_pretrained(tiny_model, num_labels=3).save_pretrained(tmp_path)
    with pytest.raises(EngineError, match="one value a token; this model gives 3"):
        asyncio.run(TransformersCritic.start(tmp_path))


def test_a_model_without_a_head_is_no_critic(tiny_model):
    with pytest.raises(EngineError, match=r"no critic: it has no score\."):
        asyncio.run(TransformersCritic.start(tiny_model))


@pytest.mark.parametrize("dtype", ["auto", "bfloat16", "half"])
def test_data_types_have_the_names_that_vllm_gives_them(folder, dtype):
    assert len(asyncio.run(one_value(folder, dtype))) == 3


async def one_value(folder: Path, dtype: str) -> list[float]:
    critic = await TransformersCritic.start(folder, dtype=dtype)
    try:
        return await critic.values([5, 6, 7], request_id="one")
    finally:
        await critic.close()


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(EngineError, match=f"cannot load {tmp_path}"):
        asyncio.run(TransformersCritic.start(tmp_path))
