"""What training needs to know of a base model without loading its weights."""

from typing import Any


def end_tokens(path: str, tokenizer: Any) -> frozenset[int]:
    """Every token id that ends an output: the tokenizer's own and all that the generation configuration lists."""
    from transformers import GenerationConfig

    ids = {tokenizer.eos_token_id} - {None}
    try:
        listed = GenerationConfig.from_pretrained(path).eos_token_id
    except OSError:  # no generation_config.json
        listed = None
    return frozenset(ids | set([listed] if isinstance(listed, int) else listed or []))
