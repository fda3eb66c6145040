"""What is asked of both servers: the same prompt and sampling, in each one's own words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from demur import prompts

Api = Literal["answers", "chat"]
CONTRACTS = ("response", "claims")
QUESTION = "What is {a} times {b}? Reason {a} times about the number {b} before you say it."


@dataclass(frozen=True, slots=True)
class Case:
    """One way of asking. Several samples are vLLM's `n`."""

    streamed: bool
    api: Api
    contract: str
    samples: int
    concurrency: int

    @property
    def name(self) -> str:
        how = "streamed" if self.streamed else "whole"
        return f"{how}, {self.api}, {self.contract}, samples {self.samples}, {self.concurrency} at once"

    def ours(self, question: str, max_tokens: int, unending: Sequence[int]) -> tuple[str, dict[str, Any]]:
        """Path and body for this server."""
        body: dict[str, Any] = {"contract": self.contract, "samples": self.samples, "risk_threshold": 0.5}
        body |= {"max_tokens": max_tokens, "stream": self.streamed} | self._drawn(unending)
        if self.api == "answers":
            return "/v1/answers", body | {"question": question}
        return "/v1/chat/completions", body | {"messages": [{"role": "user", "content": question}]} | self._usage

    def theirs(self, question: str, max_tokens: int, unending: Sequence[int]) -> tuple[str, dict[str, Any]]:
        """Path and body for vLLM's, which gets the prompt that ours makes of the question."""
        messages = prompts.messages(question, self.contract)
        body: dict[str, Any] = {"model": "m", "messages": messages, "n": self.samples, "max_tokens": max_tokens}
        body |= {"stream": self.streamed} | self._drawn(unending)
        return "/v1/chat/completions", body | self._usage

    def _drawn(self, unending: Sequence[int]) -> dict[str, Any]:
        """Greedy where it is one; vLLM refuses several that are equal. The tokens of `unending` are never drawn."""
        if self.samples == 1:
            return {"temperature": 0}
        return {"temperature": 1} | ({"logit_bias": {str(token): -100 for token in unending}} if unending else {})

    @property
    def _usage(self) -> dict[str, Any]:
        return {"stream_options": {"include_usage": True}} if self.streamed else {}


def cases(concurrencies: tuple[int, ...], samples: tuple[int, ...], contracts: tuple[str, ...]) -> Iterator[Case]:
    """All of them; several samples of many requests at once only up to 128 samples in all."""
    for streamed, api, contract, k, concurrency in product(
        (False, True), ("answers", "chat"), contracts, samples, concurrencies
    ):
        if k * concurrency <= 128:
            yield Case(streamed, api, contract, k, concurrency)
