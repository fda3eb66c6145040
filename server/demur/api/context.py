"""What the routes of one app share; FastAPI hands it to them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Depends, Request

from demur.answering import ActiveRequest, Answerer, Final, UnresolvedRequest
from demur.answering.errors import GuaranteeUnavailable
from demur.answering.resolved_request import ResolvedRequest
from demur.api.admission import Admission, Cost
from demur.api.auth import Authenticator, Caller
from demur.api.errors import ApiError, as_api_error
from demur.api.health import EngineHealth
from demur.observability.logs import log_failure
from demur.observability.metrics import Metrics
from demur.settings import Settings
from demur.tracing import Span

if TYPE_CHECKING:
    from demur.feedback.service import Feedback


Right = Literal["grade", "calibrate"]


@dataclass(frozen=True, slots=True)
class Context:
    """What one app holds: the answerer, metrics, engine health, admission, authentication, and what keeps answers."""

    answerer: Answerer
    metrics: Metrics
    health: EngineHealth
    admission: Admission
    auth: Authenticator
    feedback: "Feedback | None" = None

    def open(self, request: Request, unresolved: UnresolvedRequest) -> ActiveRequest:
        """The request checked against what this caller may ask. Raises AnsweringError."""
        if self.answerer.settings.log_text:
            request.scope["state"]["question"] = unresolved.messages[-1]["content"]
        settings, span = self.settings_for(request), _span(request)
        active = self.answerer.open(unresolved, settings, span, caller=_caller(request).name)
        request.scope["state"]["asked"] = active.request
        self._refuse_drifted(active.request)
        return active

    def _refuse_drifted(self, asked: ResolvedRequest) -> None:
        """Raises GuaranteeUnavailable for a promise that audits speak against, where the operator wants that."""
        if self.feedback is None or asked.guarantee is None or not self.answerer.settings.drift_refuses:
            return
        if asked.calibration is not None and self.feedback.drifted(asked.calibration.calibrator.id):
            raise GuaranteeUnavailable(
                "audits show more wrong answers than this calibrator promised; it has to be made anew first"
            )

    def settings_for(self, request: Request) -> Settings:
        """The server's settings within what this caller's key allows."""
        return self.auth.settings_for(_caller(request))

    def most_samples(self, request: Request) -> int:
        """The most samples that one request of this caller may draw, all choices together."""
        return self.settings_for(request).max_samples

    @asynccontextmanager
    async def admitted(self, request: Request, active: ActiveRequest, choices: int = 1) -> AsyncGenerator[None, None]:
        """Wait for admission and hold the request's tokens; inside the block it may be answered, `choices` times.

        Raises ApiError when the server is full, or when the caller has nothing left.
        """
        caller, longest = _caller(request), self.answerer.engine.max_model_len
        cost = Cost(choices * active.request.samples, active.most_tokens(choices, longest))
        with self.auth.rate_limits.tokens_for(caller.key, active, lambda: active.most_tokens(choices, longest)):
            async with self.admission.admitted(caller.name, cost, active.deadline, at_most=caller.concurrent_samples):
                active.span.happened("admitted")
                yield

    def record(self, request: Request, final: Final) -> None:
        """Count an answer, and put what is no text of it into the request's log line."""
        answer = final.answer
        self.metrics.answers.count(request.scope["route"].path, final)
        line: dict[str, Any] = {
            "id": answer.id,
            "contract": answer.contract,
            "risk_threshold": answer.risk_threshold,
            "decision": answer.decision,
            "reason": answer.reason,
            "confidence": answer.confidence,
            "completion_tokens": answer.usage.completion_tokens,
        }
        _span(request).note(**{name: fact for name, fact in line.items() if name not in ("id", "completion_tokens")})
        if self.answerer.settings.log_text:
            line |= {"answer": answer.answer, "text": answer.text}
        request.scope["state"].setdefault("answers", []).append(line)
        if self.feedback is not None:
            self.feedback.note(final, request.scope["state"]["asked"], _caller(request).name)

    def may(self, request: Request, right: Right) -> bool:
        """Whether this caller has a right. Without keys it is whoever may see withheld text: this machine's user."""
        key = _caller(request).key
        return self.answerer.settings.withheld_allowed if key is None else getattr(key, right)

    def fail(self, request: Request, error: Exception) -> ApiError:
        """Count and log an error, and translate it for the caller."""
        self.health.report(error)
        found = as_api_error(error)
        request.scope["state"]["error"] = found.kind
        _span(request).note(error=found.kind)
        if found.status >= 500:
            _span(request).fail(found.kind)
            log_failure(error, request.state.request_id)
        return found


def notice_headers(active: ActiveRequest) -> dict[str, str]:
    """What the caller should know besides the answer, in the header `demur-notice`."""
    notices = list(dict.fromkeys(active.notices))
    return {"demur-notice": "; ".join(notices)} if notices else {}


def _span(request: Request) -> Span:
    return request.scope["state"]["span"]


def _caller(request: Request) -> Caller:
    return request.scope["state"]["caller"]


async def _context(request: Request) -> Context:
    return request.app.state.context


Shared = Annotated[Context, Depends(_context)]
