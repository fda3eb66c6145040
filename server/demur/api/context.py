"""What the routes of one app share; FastAPI hands it to them."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from demur.answering import Answerer, Final, Order, Question
from demur.api.admission import Admission, Load
from demur.api.errors import ApiError, as_api_error
from demur.api.vitals import Vitals
from demur.observability import Metrics, log_failure


@dataclass(frozen=True, slots=True)
class Context:
    """One app's answerer and its books."""

    answerer: Answerer
    metrics: Metrics
    vitals: Vitals
    admission: Admission

    def order(self, request: Request, question: Question) -> Order:
        """The question checked against what this caller may ask. Raises AnsweringError."""
        return self.answerer.order(question)

    def admitted(self, request: Request, order: Order, choices: int = 1) -> AbstractAsyncContextManager[None]:
        """Inside, the order may be answered, `choices` times. Raises ApiError when the server is full."""
        tokens = order.most_tokens(choices, self.answerer.engine.max_model_len)
        return self.admission.admitted("", Load(choices * order.plan.samples, tokens), order.deadline)

    def record(self, request: Request, final: Final) -> None:
        """Count an answer, and put what is no text of it into the request's log line."""
        answer = final.answer
        self.metrics.answered(request.scope["route"].path, final)
        line: dict[str, Any] = {
            "id": answer.id,
            "contract": answer.contract,
            "risk_threshold": answer.risk_threshold,
            "decision": answer.decision,
            "reason": answer.reason,
            "confidence": answer.confidence,
            "completion_tokens": answer.usage.completion_tokens,
        }
        request.scope["state"].setdefault("answers", []).append(line)

    def fail(self, request: Request, error: Exception) -> ApiError:
        """Note an error in the books and translate it for the caller."""
        self.vitals.report(error)
        found = as_api_error(error)
        request.scope["state"]["error"] = found.kind
        if found.status >= 500:
            log_failure(error, request.state.request_id)
        return found


async def _context(request: Request) -> Context:
    return request.app.state.context


Shared = Annotated[Context, Depends(_context)]
