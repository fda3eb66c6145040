"""The text of a whole output, decoded at once, is what its tokens add up to one by one."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from demur.engine.base import EngineError
from demur.engine.vllm.detokenize import decoded, decodes, pieces

LETTERS = pre_tokenizers.ByteLevel.alphabet()


def byte_level() -> Tokenizer:
    """Each byte a token, and a few longer ones, one of which ends within a character."""
    vocabulary = {letter: i for i, letter in enumerate(sorted(LETTERS))}
    longer = ["Ġthe", "Ġis", "42", "aÃ", "Ċ"]
    vocabulary |= {word: len(vocabulary) + i for i, word in enumerate(longer) if word not in vocabulary}
    made = Tokenizer(models.BPE(vocabulary, []))
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken("<|end|>", special=True)])
    return made


def metaspace() -> Tokenizer:
    """As SentencePiece writes it: a word's space is part of it, the very first one is dropped, bytes are tokens."""
    words = ["▁the", "▁is", "▁", "42", "s", ",", *(f"<0x{byte:02X}>" for byte in range(256))]
    made = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, [], byte_fallback=True))
    made.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    made.add_special_tokens([AddedToken("<|end|>", special=True)])
    return made


TOKENIZERS = [byte_level(), metaspace()]


def characters(backend: Tokenizer) -> list[int]:
    """The tokens that are text by themselves, as those of a prompt are."""
    return [token for token in range(backend.get_vocab_size()) if "\ufffd" not in backend.decode([token])]


@given(st.sampled_from(TOKENIZERS), st.data(), st.booleans())
def test_what_is_decoded_at_once_is_the_sum_of_its_pieces(backend: Tokenizer, data: st.DataObject, shows: bool) -> None:
    prompt = data.draw(st.lists(st.sampled_from(characters(backend)), max_size=20))
    said = data.draw(st.lists(st.integers(0, backend.get_vocab_size() - 1), max_size=60))
    tokenizer = SimpleNamespace(backend_tokenizer=backend)
    one_by_one = "".join(pieces(tokenizer, prompt, said, shows_special=shows))
    assert decoded(tokenizer, prompt, said, shows_special=shows) == one_by_one


@pytest.mark.parametrize("text", ["So it is 42.", "één größer 東京 🦊", " leading", "\n\n", ""])
def test_text_comes_back(text: str) -> None:
    backend = TOKENIZERS[0]
    vocabulary, by_byte = backend.get_vocab(), _letters()
    said = [vocabulary[by_byte[byte]] for byte in text.encode()]
    assert decoded(SimpleNamespace(backend_tokenizer=backend), [vocabulary["<|end|>"]], said) == text


def _letters() -> dict[int, str]:
    """The letter that stands for each byte in a byte-level vocabulary: printable ones for themselves."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in own)
    return {byte: chr(byte) for byte in own} | {byte: chr(256 + i) for i, byte in enumerate(others)}


def test_a_tokenizer_written_in_python_is_left_to_the_engine() -> None:
    assert not decodes(SimpleNamespace())
    with pytest.raises(EngineError, match="tokenizer"):
        decoded(SimpleNamespace(), [], [1])
