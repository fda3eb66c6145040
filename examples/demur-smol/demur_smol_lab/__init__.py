"""How the small model that ships with demur is made: low-rank adapters in float32, no verl, no vLLM.

`llama` is the network, `packing` and `decoding` are the two ways to run it, `confidence_targets` says what
a confidence is trained towards, `pipeline` puts the stages in order, `artefact` writes what ships, and `problems` makes
the questions.
"""

from typing import Literal

Stage = Literal[
    "warm-start",
    "samples",
    "empirical",
    "brier",
    "outcome",
    "finish",
    "critic",
    "measured",
]
"""The stages of a run, in order, by the names of their folders; `pipeline` says what each does."""
