"""Which critic is served, from where, with how much of the memory, and what happens when it cannot be loaded."""

import asyncio
import logging

import pytest

from demur.engine.base import EngineError
from demur.engine.critic import CriticUnavailable
from demur.engine.scripted import ScriptedEngine
from demur.manifest import Critic, Manifest
from demur.serving.critic import critic_for, locate, memory_shares
from demur.serving.engine_loaders.vllm import load_critic
from demur.serving.errors import CannotLoad
from demur.settings import Settings

PLAIN = Manifest(name="m")
VALUED = Manifest(name="m", critic=Critic(path="critic"))


def test_the_memory_is_divided_only_where_a_critic_is_served() -> None:
    assert memory_shares(PLAIN, Settings()) == (1.0, 0.0)
    assert memory_shares(VALUED, Settings(critic="off")) == (1.0, 0.0)
    assert memory_shares(VALUED, Settings(critic_memory=0.25)) == (0.75, 0.25)


@pytest.mark.parametrize("share", [0, 1, -0.1])
def test_neither_of_the_two_can_have_all_of_it(share) -> None:
    with pytest.raises(ValueError, match="critic_memory"):
        Settings(critic_memory=share)


def test_a_critic_is_in_its_models_folder_or_a_model_of_its_own(tmp_path) -> None:
    (tmp_path / "critic").mkdir()
    (tmp_path / "value" / "head").mkdir(parents=True)
    assert locate(str(tmp_path), "critic") == str(tmp_path / "critic")
    assert locate(str(tmp_path), "value/head") == str(tmp_path / "value" / "head")
    assert locate(str(tmp_path), "someone/critic") == "someone/critic"
    assert locate(str(tmp_path), "nowhere") == str(tmp_path / "nowhere")


def test_a_critic_is_nowhere_else(tmp_path) -> None:
    """Whatever a manifest or a link in a model's folder says."""
    model = tmp_path / "model"
    model.mkdir()
    (tmp_path / "outside").mkdir()
    (model / "critic").symlink_to(tmp_path / "outside")
    (model / "real").mkdir()
    (model / "alias").symlink_to("real")
    for path in ("critic", "../outside", str(tmp_path / "outside")):
        with pytest.raises(EngineError, match="outside of that folder"):
            locate(str(model), path)
    assert locate(str(model), "alias") == str(model / "alias")
    for path in ("a/b/c", "org/a b", "org/", "-flag/x y"):
        assert locate(str(model), path).startswith(str(model))


@pytest.mark.parametrize(
    ("manifest", "settings"),
    [(PLAIN, Settings()), (VALUED, Settings(critic="off"))],
)
def test_no_critic_is_loaded_where_none_is_served(tmp_path, manifest, settings) -> None:
    assert asyncio.run(load_critic(str(tmp_path), ScriptedEngine(), manifest, settings, {})) is None


def test_a_critic_that_is_not_there_ends_the_start_only_if_it_is_wanted_at_the_start(tmp_path) -> None:
    def load(when: str):
        return load_critic(str(tmp_path), ScriptedEngine(), VALUED, Settings(critic=when), {})

    assert asyncio.run(load("on_demand")) is not None
    with pytest.raises(
        CannotLoad, match=r"there is no model folder .*critic; --critic off serves the model without it"
    ):
        asyncio.run(load("at_start"))


def test_a_critic_that_is_not_there_says_so_once_in_the_log(tmp_path, caplog) -> None:
    async def ask_twice() -> None:
        critic = critic_for(str(tmp_path), VALUED, Settings(), {}, 4096)
        assert critic is not None
        for _ in range(2):
            with pytest.raises(CriticUnavailable, match="there is no model folder"):
                await critic.values([1], request_id="r")

    with caplog.at_level(logging.ERROR, logger="demur"):
        asyncio.run(ask_twice())
    assert [record.getMessage() for record in caplog.records] == ["the critic cannot be loaded"]
