"""What a newcomer may type, asked of a running server: python -m bench strangers [--url URL] [--contract claims]

Thirty questions, most of them outside what a small model can do. A table in Markdown: how often each was answered
rightly, how often the model was SURE and right, or sure and wrong, and what it says most often. The sure and wrong ones
are what embarrasses.
"""

import argparse
import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import httpx
from bench.report import publish
from bench.tables.markdown import table

from demur.core.equivalence import same_answer

SURE, DRAWS, AT_ONCE, PATIENCE = 0.8, 10, 8, 600
QUESTIONS: dict[str, str | None] = {
    "What is 2 + 2?": "4",
    "What is 17 + 25?": "42",
    "2 + 2 * 2": "6",
    "What is 7 times 8?": "56",
    "How much is 100 - 37?": "63",
    "Which is larger, 9.9 or 9.11?": "9.9",
    "Hi": None,
    "Who are you?": None,
    "What is the capital of France?": "Paris",
    "What is the capital of Germany?": "Berlin",
    "What's the weather like today?": None,
    "What is 12 * 12?": "144",
    "What is 15% of 200?": "30",
    "What is half of 50?": "25",
    "What is 1000 / 8?": "125",
    "Is 7 a prime number?": "yes",
    "What is 3 squared?": "9",
    "What is the square root of 81?": "9",
    "What is 0.1 + 0.2?": "0.3",
    "What is 1/2 + 1/4?": "3/4",
    "Who wrote Hamlet?": "Shakespeare",
    "How many days are in a week?": "7",
    "What is 5 - 8?": "-3",
    "Tell me a joke": None,
    "I have 3 apples and eat one. How many are left?": "2",
    "What is 123 + 456?": "579",
    "What is 99 * 99?": "9801",
    "What comes next: 2, 4, 6, 8?": "10",
    "If a train travels 60 km in one hour, how far does it go in 3 hours?": "180",
    "What is the meaning of life?": None,
}
"""With their answers; None where nothing that can be said is right."""


@dataclass(frozen=True, slots=True)
class Said:
    """One reply. `claims` counts its steps, 0 under a contract that has none."""

    answer: str
    confidence: float
    claims: int


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench strangers", description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--contract", default="response")
    options = parser.parse_args()
    said = asyncio.run(asked(options.url, options.draws, options.contract))
    rows = [row(question, QUESTIONS[question], replies) for question, replies in said.items()]
    totals = Counter(verdict(each, QUESTIONS[question]) for question, replies in said.items() for each in replies)
    columns = [
        "question",
        "right",
        "sure and right",
        "sure and wrong",
        "confidence",
        "steps at most",
        "said most often",
    ]
    print(table(columns, rows, ", ".join(f"{name} {totals[name]}" for name in sorted(totals))))
    publish(f"strangers-{options.contract}", "what a newcomer may type", columns, rows, dict(totals))


async def asked(url: str, draws: int, contract: str) -> dict[str, list[Said]]:
    """Every question, so many times each."""
    room = asyncio.Semaphore(AT_ONCE)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:

        async def once(question: str) -> Said:
            body = {"question": question, "risk_threshold": 0, "contract": contract, "granularity": "response"}
            async with room:
                reply = await client.post("/v1/answers", json=body)
            found = reply.raise_for_status().json()
            return Said(found["answer"] or "", found["confidence"] or 0.0, len(found["claims"] or ()))

        return {question: list(await asyncio.gather(*(once(question) for _ in range(draws)))) for question in QUESTIONS}


def row(question: str, wanted: str | None, said: Sequence[Said]) -> list[str]:
    counts = Counter(verdict(each, wanted) for each in said)
    right = counts["right"] + counts["sure and right"]
    common, times = Counter(each.answer for each in said).most_common(1)[0]
    return [
        question,
        f"{right} of {len(said)}",
        f"{counts['sure and right']}",
        f"{counts['sure and wrong']}",
        f"{fmean(each.confidence for each in said):.2f}",
        f"{max(each.claims for each in said)}",
        f"{common[:60]} ({times})".replace("|", "\\|").replace("\n", " "),
    ]


def verdict(said: Said, wanted: str | None) -> str:
    """What came of one reply; `right` and `wrong` alone are those that the model was not sure of."""
    word = "right" if wanted is not None and is_right(said.answer, wanted) else "wrong"
    return f"sure and {word}" if said.confidence >= SURE else word


def is_right(answer: str, wanted: str) -> bool:
    """The same by value, or a sentence with the wanted words in it as words: 14 is not 4."""
    words = re.compile(rf"(?<![\w.,/-]){re.escape(wanted)}(?![\w/]|[.,]\d)", re.IGNORECASE)
    return same_answer(answer, wanted) or words.search(answer) is not None


if __name__ == "__main__":
    main()
