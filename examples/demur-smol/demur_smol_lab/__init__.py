"""The lighter loop that makes the embedded model on two CPU cores: no verl, no vLLM, adapters of low rank, float32.

`llama` is the network, `packing` and `decoding` are the two ways to run it, `targets` says what a confidence is
trained towards, `stages` puts them in order, `artefact` writes what ships.
"""

from typing import Literal

Stage = Literal[
    "warm-start",
    "samples",
    "empirical",
    "brier",
    "outcome",
    "settle",
    "twin",
    "blend",
    "finish",
    "critic",
    "measured",
]
"""The stages of a run, in order; `stages` says what each does."""
