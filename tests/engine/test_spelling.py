"""The text of single tokens, as it is written while a sample streams."""

from pathlib import Path

import pytest

from demur.engine.base import EngineError
from demur.engine.vllm.detokenize import pieces

TEXTS = ["Answer: 4\nConfidence: 0.35", "  spaces  inside ", "naïve 🥚🥚 日本", "e\u0301"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("asked", ["", "What is 2 + 2?"])
def test_pieces_join_to_the_text(tiny_model: Path, text: str, asked: str) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    ids = tokenizer(text)["input_ids"]
    found = pieces(tokenizer, tokenizer(asked)["input_ids"], [*ids, tokenizer.eos_token_id])
    assert "".join(found) == text
    assert len(found) == len(ids) + 1
    assert found[-1] == ""


def test_a_character_comes_with_its_last_token_and_a_broken_one_not_at_all(tiny_model: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    egg = tokenizer("🥚")["input_ids"]
    assert len(egg) == 4
    assert pieces(tokenizer, [], egg) == ["", "", "", "🥚"]
    assert pieces(tokenizer, [], egg[:3]) == ["", "", ""]


def test_a_tokenizer_that_cannot_tell_is_an_error() -> None:
    with pytest.raises(EngineError, match="single tokens"):
        pieces(object(), [], [1])
