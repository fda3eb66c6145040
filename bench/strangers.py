"""What a newcomer may type, asked of a running server: python -m bench strangers [--url URL] [--draws 10]

Thirty questions, most of them outside what a small model can do. Prints how often each was answered rightly, and how
often the model was SURE and right, or sure and wrong: the latter is what embarrasses.
"""

import argparse
import asyncio
from collections import Counter

import httpx

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


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench strangers")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--draws", type=int, default=DRAWS)
    options = parser.parse_args()
    asyncio.run(measure(options.url, options.draws))


async def measure(url: str, draws: int) -> None:
    room = asyncio.Semaphore(AT_ONCE)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:

        async def once(question: str) -> tuple[str, float]:
            async with room:
                reply = await client.post("/v1/answers", json={"question": question, "risk_threshold": 0})
            found = reply.raise_for_status().json()
            return found["answer"] or "", found["confidence"] or 0.0

        totals = Counter[str]()
        for question, wanted in QUESTIONS.items():
            said = await asyncio.gather(*(once(question) for _ in range(draws)))
            counts = Counter(verdict(answer, confidence, wanted) for answer, confidence in said)
            totals += counts
            common = Counter(answer for answer, _ in said).most_common(1)[0][0]
            figures = "  ".join(f"{name} {counts[name]:2}" for name in ("sure and right", "sure and wrong", "right"))
            print(f"{question[:50]:50}  {figures}  {common[:40]!r}", flush=True)
        print({name: totals[name] for name in sorted(totals)})


def verdict(answer: str, confidence: float, wanted: str | None) -> str:
    """What came of one reply; `right` and `wrong` alone are those that the model was not sure of."""
    right = wanted is not None and (same_answer(answer, wanted) or wanted.lower() in answer.lower())
    word = "right" if right else "wrong"
    return f"sure and {word}" if confidence >= SURE else word


if __name__ == "__main__":
    main()
