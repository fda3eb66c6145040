"""The tiny Llama with a tokenizer that writes digits one by one, as the embedded model's does."""

import json
from pathlib import Path

from tiny_model import make_tiny_model


def make_tiny_digit_model(folder: Path) -> Path:
    """Write the model into `folder`, and return it."""
    make_tiny_model(folder)
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text())
    digits = {"type": "Digits", "individual_digits": True}
    content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [digits, content["pre_tokenizer"]]}
    path.write_text(json.dumps(content))
    return folder
