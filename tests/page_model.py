"""A manifest with examples and figures, for tests of the page."""

import json
from pathlib import Path
from typing import Any

EXAMPLES = [
    {"question": "What is 7 + 5?", "contract": "response", "risk_threshold": 0.9, "shows": "answer"},
    {"question": "How many moons?", "contract": "response", "risk_threshold": 0.8, "shows": "abstain"},
    {
        "question": "How many in the boxes?",
        "contract": "claims",
        "granularity": "claims",
        "risk_threshold": 0.7,
        "shows": "doubt",
    },
]
MEASURED = {
    "on": "graded sums",
    "date": "2026-11-20",
    "answers": 400,
    "auc": {"value": 0.91, "low": 0.88, "high": 0.94},
    "smece": {"value": 0.03, "low": 0.01, "high": 0.05},
    "thresholds": [
        {"risk_threshold": 0.5, "answered": 0.62, "right": 0.83},
        {"risk_threshold": 0.9, "answered": 0.25, "right": 0.97},
        {"risk_threshold": 0.95, "answered": 0.0, "right": None},
    ],
    "reliability": [
        {"answers": 100, "confidence": 0.1, "right": 0.12},
        {"answers": 300, "confidence": 0.9, "right": 0.88},
    ],
}
MODEL: dict[str, Any] = {"contracts": ["response", "claims", "explicit_risk"], "examples": EXAMPLES}
OFFERED = Path(__file__).parents[1] / "examples/demur-smol/examples.json"
KNOWN = MODEL | {"measured": {"response": MEASURED}}
SHIPPED = KNOWN | {"contracts": ["response", "claims"], "examples": json.loads(OFFERED.read_text())}
"""With what the embedded model offers."""
