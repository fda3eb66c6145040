"""What the paper reports in its section 4, to stand beside ours. Figures are rounded there to three decimals."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Table = Literal["beyondaime", "aime2024", "aime2025", "simpleqa", "claims"]

COLUMNS = "snr_gain", "auc", "abstention_accuracy", "smece", "brier", "nll", "accuracy"
AIME_COLUMNS = "smece", "auc", "snr_gain", "accuracy"


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One table: its title, what its columns are, and the figures by model."""

    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float, ...]]


PAPER: Mapping[Table, PaperTable] = {
    "beyondaime": PaperTable(
        "BeyondAIME, whole answers",
        COLUMNS,
        {
            "Qwen3-next-80b-a3b-thinking": (0.006, 0.496, 0.557, 0.408, 0.425, 1.826, 0.557),
            "GLM-4.5": (0.016, 0.519, 0.536, 0.440, 0.449, 1.971, 0.532),
            "Qwen3-max": (0.043, 0.678, 0.540, 0.453, 0.413, 1.583, 0.537),
            "Gemini-2.5-Pro": (0.071, 0.699, 0.553, 0.431, 0.387, 1.443, 0.544),
            "Qwen3-4B-Instruct": (0.084, 0.715, 0.338, 0.632, 0.599, 2.316, 0.291),
            "Kimi-K2-0905": (0.087, 0.678, 0.385, 0.575, 0.529, 2.004, 0.355),
            "Qwen3-4B-Instruct-ppo": (0.101, 0.786, 0.388, 0.560, 0.518, 1.873, 0.361),
            "GPT-oss-120b": (0.154, 0.703, 0.497, 0.419, 0.402, 1.415, 0.436),
            "GPT-5": (0.207, 0.706, 0.718, 0.160, 0.208, 0.719, 0.680),
            "o4-mini": (0.515, 0.738, 0.698, 0.164, 0.241, 0.845, 0.527),
            "Qwen3-4B-Instruct-confidence-min": (0.683, 0.863, 0.703, 0.220, 0.194, 0.606, 0.384),
            "Qwen3-4B-Instruct-confidence-brier": (0.802, 0.902, 0.782, 0.177, 0.161, 0.527, 0.395),
            "Qwen3-4B-Instruct-confidence-prod": (0.806, 0.883, 0.766, 0.166, 0.166, 0.516, 0.385),
            "Qwen3-4B-Instruct-confidence-ce": (1.097, 0.854, 0.771, 0.174, 0.179, 0.722, 0.364),
            "Qwen3-4B-Instruct-ppo-value": (1.202, 0.881, 0.797, 0.061, 0.141, 0.436, 0.387),
        },
    ),
    "aime2024": PaperTable(
        "AIME 2024, whole answers",
        AIME_COLUMNS,
        {
            "Confidence-Brier": (0.032, 0.955, 1.153, 0.755),
            "PPO-Value": (0.070, 0.909, 1.051, 0.702),
            "Confidence-CE": (0.075, 0.894, 1.320, 0.701),
            "PPO only": (0.223, 0.877, 0.205, 0.705),
            "Qwen3-4B-Instruct": (0.330, 0.787, 0.177, 0.590),
        },
    ),
    "aime2025": PaperTable(
        "AIME 2025, whole answers",
        AIME_COLUMNS,
        {
            "Confidence-Brier": (0.077, 0.951, 1.097, 0.621),
            "PPO-Value": (0.042, 0.938, 1.105, 0.627),
            "Confidence-CE": (0.084, 0.900, 1.352, 0.638),
            "PPO only": (0.301, 0.886, 0.213, 0.608),
            "Qwen3-4B-Instruct": (0.450, 0.836, 0.153, 0.466),
        },
    ),
    "simpleqa": PaperTable(
        "SimpleQA, whole answers",
        COLUMNS,
        {
            "Gemini-2.5-Pro": (0.017, 0.556, 0.547, 0.451, 0.436, 1.900, 0.545),
            "Qwen3-4B-Instruct": (0.066, 0.561, 0.142, 0.821, 0.762, 2.550, 0.062),
            "Grok-4": (0.147, 0.664, 0.551, 0.307, 0.327, 0.988, 0.492),
            "Qwen3-4B-Instruct-ppo-value": (0.211, 0.734, 0.236, 0.665, 0.525, 1.510, 0.031),
            "Claude-sonnet-4.5-nothinking": (0.282, 0.748, 0.544, 0.318, 0.284, 0.786, 0.299),
            "GLM-4.6": (0.358, 0.739, 0.518, 0.377, 0.310, 0.878, 0.206),
            "Qwen3-4B-Instruct-confidence-brier": (0.411, 0.704, 0.540, 0.459, 0.341, 1.100, 0.058),
            "Claude-sonnet-4.5-thinking": (0.456, 0.783, 0.658, 0.200, 0.214, 0.614, 0.308),
            "GPT-5": (0.498, 0.838, 0.729, 0.098, 0.178, 0.530, 0.438),
        },
    ),
    "claims": PaperTable(
        "BeyondAIME, single claims",
        COLUMNS,
        {
            "Qwen3-max": (0.018, 0.717, 0.889, 0.132, 0.106, 0.469, 0.889),
            "Gemini-2.5-Pro": (0.019, 0.719, 0.891, 0.130, 0.104, 0.449, 0.891),
            "Qwen3-4B-Instruct": (0.027, 0.617, 0.563, 0.456, 0.419, 1.809, 0.558),
            "GLM-4.5": (0.029, 0.676, 0.719, 0.294, 0.260, 1.027, 0.719),
            "o4-mini": (0.068, 0.601, 0.774, 0.210, 0.211, 0.887, 0.770),
            "Qwen3-4B-Instruct-confidence-prod": (0.183, 0.741, 0.526, 0.311, 0.305, 0.930, 0.497),
            "Qwen3-4B-Instruct-confidence-min": (0.301, 0.788, 0.616, 0.258, 0.251, 0.810, 0.537),
        },
    ),
}
