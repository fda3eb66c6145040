"""How long reading an answer takes, and how time and memory grow with its length."""

import tracemalloc

from bench.report import Spread, publish, seconds

from demur.core.answers import ContractName
from demur.core.reader import Reader, read
from demur.core.threshold import decide, highlighted

STEP = '<Confidence value=0.9{i} text="the carry in {i} is easy to lose">{i} * 86 + 14 = {n}, so x < {n}</Confidence>\n'
THOUGHT = "Let us look at step {i}: we multiply, then we add, and then we check that it fits.\n"
TOKENS = 1000
CHARACTERS = 4 * TOKENS  # the usual rule of thumb for English text


def answer(contract: ContractName, characters: int) -> str:
    """A believable output of about that many characters: reasoning, then what the contract wants."""
    thought = "".join(THOUGHT.format(i=i) for i in range(characters // 2 // len(THOUGHT)))
    if contract != "claims":
        return thought * 2 + "Answer: 602\nConfidence: 0.87"
    steps = "".join(STEP.format(i=i % 10, n=i * 86 + 14) for i in range(characters // 2 // len(STEP)))
    return f"{thought}Solution:\n{steps}Answer:602"


def whole(text: str, contract: ContractName) -> None:
    completion = read(text, contract)
    decide(completion, 0.8)
    highlighted(completion.claims, 0.8)


def streamed(text: str, contract: ContractName) -> None:
    reader = Reader(contract)
    for i in range(0, len(text), 4):
        reader.feed(text[i : i + 4])
    reader.close()


def peak(text: str, contract: ContractName) -> int:
    tracemalloc.start()
    whole(text, contract)
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size


def measure(contract: ContractName) -> dict[str, object]:
    short, long = answer(contract, CHARACTERS), answer(contract, 50 * CHARACTERS)
    once = seconds(lambda: whole(short, contract), runs=200, warmup=20)
    growth = [
        seconds(lambda: whole(long, contract), runs=1).median / seconds(lambda: whole(short, contract), runs=20).median
        for _ in range(9)
    ]
    by_token = seconds(lambda: streamed(short, contract), runs=50, warmup=5)
    return {
        "one_shot_ms": Spread(once.low * 1e3, once.median * 1e3, once.high * 1e3),
        "streamed_us_per_token": Spread(*(x * 1e6 / TOKENS for x in (by_token.low, by_token.median, by_token.high))),
        "time_ratio_50x": Spread.of(growth),
        "memory_ratio_50x": peak(long, contract) / peak(short, contract),
    }


def main() -> None:
    results = {contract: measure(contract) for contract in ("response", "claims", "explicit_risk")}
    rows = [
        [contract, *(figure.text() if isinstance(figure, Spread) else f"{figure:.1f}" for figure in figures.values())]
        for contract, figures in results.items()
    ]
    columns = ["contract", "1,000 tokens, CPU ms", "streamed, us per token", "50x the text: time x", "memory x"]
    data = {
        contract: {name: f.json() if isinstance(f, Spread) else f for name, f in figures.items()}
        for contract, figures in results.items()
    }
    publish("reader", "Reading an answer, its threshold and its spans: median (min to max)", columns, rows, data)


if __name__ == "__main__":
    main()
