"""Models that mark thought by special tokens are told from those whose special tokens say nothing."""

from types import SimpleNamespace

import pytest

from demur.engine.vllm.special_tokens import marks_thought, opens_thought


@pytest.mark.parametrize(
    ("tokens", "opens"),
    [
        (["<|channel>", "<channel|>", "<bos>"], True),  # a channel whose name is thought
        (["<|start|>", "<|channel|>", "<|message|>", "<|end|>"], True),  # harmony
        (["<|START_THINKING|>", "<|END_THINKING|>"], True),
        (["[THINK]", "[/THINK]"], True),
        (["<think>", "</think>"], True),
        (["<|im_start|>", "<|im_end|>", "<|endoftext|>"], False),
        (["<bos>", "<eos>", "<pad>", "<unk>", "[INST]", "[/INST]", "<|eot_id|>"], False),
        ([], False),
    ],
)
def test_what_opens_a_thought(tokens, opens) -> None:
    assert opens_thought(tokens) is opens


def test_only_special_ones_count() -> None:
    """Tokens that were added and are not special are text to vLLM anyway."""
    for special in (False, True):
        added = {1: AddedToken("<think>", special=special)}
        assert marks_thought(SimpleNamespace(added_tokens_decoder=added, all_special_tokens=["<eos>"])) is special
    assert not marks_thought(object())


class AddedToken:
    def __init__(self, text: str, *, special: bool) -> None:
        self.text, self.special = text, special

    def __str__(self) -> str:
        return self.text
