"""What training needs to know of a base model without loading its weights."""

from pathlib import Path
from typing import Any

from demur_training.errors import ModelError


def end_tokens(path: str, tokenizer: Any) -> frozenset[int]:
    """Every token id that ends an output: the tokenizer's own and all that the generation configuration lists."""
    from transformers import GenerationConfig

    ids = {tokenizer.eos_token_id} - {None}
    try:
        listed = GenerationConfig.from_pretrained(path).eos_token_id
    except OSError:  # no generation_config.json
        listed = None
    return frozenset(ids | set([listed] if isinstance(listed, int) else listed or []))


def load_tokenizer(path: str) -> Any:
    """The base model's tokenizer. Raises ModelError when it cannot be read or has no chat template."""
    from transformers import AutoTokenizer

    if _looks_local(path) and not Path(path).is_dir():
        raise ModelError(f"no such model folder: {path} (set actor_rollout_ref.model.path or --model)")
    try:
        tokenizer = AutoTokenizer.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot load the tokenizer of {path}: {str(error).splitlines()[0]}") from error
    if not tokenizer.chat_template:
        raise ModelError(f"{path} has no chat template: start from an instruction-tuned model, or add one to it")
    return tokenizer


def _looks_local(path: str) -> bool:
    return path.startswith((".", "/", "~")) or path.count("/") != 1
