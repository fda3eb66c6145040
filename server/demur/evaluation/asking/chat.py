"""Any OpenAI-compatible host: the prompt is built and the output read here, with the code the server uses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from demur.core.answers import Aggregation, ContractName
from demur.core.reader import read
from demur.engine.base import Message
from demur.evaluation.asking.base import BadReply, EvaluationRequest, Output, Request, tokens_of
from demur.prompts import Domain, Wording, bare, messages


@dataclass(frozen=True, slots=True)
class ChatApi:
    """Asks `POST /v1/chat/completions` under one contract; `bare` leaves the contract's instructions out."""

    request: Request
    contract: ContractName = "response"
    domain: Domain = "general"
    wording: Wording = "trained"
    aggregation: Aggregation = "min"
    bare: bool = False
    path: str = "/v1/chat/completions"

    def body(self, ask: EvaluationRequest) -> dict[str, Any]:
        """The request: our prompt around the question."""
        return {"messages": self._turns(ask), **self.request.of(ask)}

    def _turns(self, ask: EvaluationRequest) -> list[Message]:
        if self.bare:
            return bare(ask.text)
        trained, t = self.wording == "trained", ask.key.risk_threshold
        return messages(ask.text, self.contract, domain=self.domain, risk_threshold=t, trained=trained)

    def output(self, body: Any) -> Output:
        """Read the first choice in lenient mode, as the server does."""
        choice = _first_choice(body)
        raw = choice["message"]["content"] or ""
        completion = read(raw, self.contract, aggregation=self.aggregation)
        return Output(
            answer=completion.answer,
            confidence=completion.confidence,
            state=completion.state,
            text=completion.text,
            claims=completion.claims,
            idk=completion.idk,
            truncated=choice.get("finish_reason") == "length",
            raw=raw,
            tokens=tokens_of(body.get("usage")),
            stated=completion.confidence,
        )

    def without(self, param: str | None) -> None:
        """Nothing is sent that could be spared."""
        return None


def content_of(body: Any) -> str:
    """The text of a chat completion. Raises BadReply."""
    return _first_choice(body)["message"]["content"] or ""


def _first_choice(body: Any) -> Mapping[str, Any]:
    try:
        choice = body["choices"][0]
        if isinstance(choice["message"]["content"], str | None):
            return choice
    except (KeyError, IndexError, TypeError):
        pass
    raise BadReply("the reply is no chat completion")
