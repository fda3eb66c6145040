"""The answer: what was said, how sure the model is, and whether that was enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from . import notebook, rethreshold, wording
from .values import AnswerValues

if TYPE_CHECKING:
    from .feedback import Feedback


@dataclass(frozen=True, slots=True)
class Answer(AnswerValues):
    """One reply of the server. True in a condition when it answers, false when it abstains.

    `confidence` and `risk_threshold` are probabilities in [0, 1]; `confidence` is None where the model wrote none
    that can be read, and for the explicit_risk contract. After an abstention `answer` is None and `reason` says
    why; `text` is None and `claims` is empty, except where a stream shows text before the decision (one sample,
    granularity claims or a threshold of 0) and the output then holds no answer, as when it was cut off: what was
    shown stays. `withheld` holds all that was read if the caller asked with `include_withheld=True` and the operator
    allows it. `created` is in seconds since 1970. `guarantee` says what a `max_error` was answered with, `notice` why a
    confidence is not calibrated where the server has calibrators.

    `signals` is None unless `include_signals` asked for some. `fields` is None unless a schema was asked with; then
    `parsed` is the JSON of the answer, an instance of the model where the schema was a pydantic model, and None after
    an abstention. `request_id` finds the request in the server's log.
    """

    def at(self, risk_threshold: float) -> Answer:
        """The same answer at another risk threshold in [0, 1], decided here exactly as the server would.

        What an abstention hides stays in `withheld`, so one can move back. `samples` stays as it was sent; `guarantee`
        is None at another threshold than its own, since only thresholds that were tested keep an error rate.
        Raises RedecideError when the text was never sent (ask with `include_withheld=True`), and for the
        explicit_risk contract, whose threshold is part of the prompt; ValueError for a threshold outside [0, 1].
        """
        return bound(rethreshold.redecide(self, risk_threshold), getattr(self, "_feedback", None))

    def feedback(
        self,
        correct: bool | None = None,
        *,
        gold: str | None = None,
        claim: int | None = None,
        sample: int | None = None,
    ) -> Feedback:
        """Tell the server that gave this answer whether it was right: `Client.feedback` of the client it came by.

        Raises ValueError for an answer that did not come by a `Client`, such as one of `AsyncClient`, and what
        `Client.feedback` raises.
        """
        send = cast("Callable[..., Feedback] | None", getattr(self, "_feedback", None))
        if send is None:
            raise ValueError("this answer came by no Client; use client.feedback(answer, correct=...)")
        return send(self, correct=correct, gold=gold, claim=claim, sample=sample)

    def to_dict(self) -> dict[str, Any]:
        """The reply as JSON values, in the shape it has on the wire."""
        shown = self.contract == "claims" and self.text is not None
        fields = _jsonable(asdict(replace(self, parsed=None)))
        for name in ("parsed", "request_id"):
            del fields[name]
        for name in ("fields", "signals", "settled"):
            if fields[name] is None:
                del fields[name]
        sampled = cast("dict[str, list[dict[str, Any]]] | None", fields["samples"])
        for member in [] if sampled is None else sampled["members"]:
            if member["settled"] is None:
                del member["settled"]
        for each in fields.get("fields", []):
            for name in ("agreement", "signals"):
                if each[name] is None:
                    del each[name]
        withheld = fields["withheld"]
        if withheld and self.contract != "claims":
            withheld["claims"] = None
        if self.usage.signal_tokens is None:
            cast("dict[str, Any]", fields["usage"]).pop("signal_tokens")
        fields = {name: value for name, value in fields.items() if value is not None or name not in _UNASKED}
        return {"id": self.id, "object": "answer"} | fields | {"claims": fields["claims"] if shown else None}

    def __str__(self) -> str:
        return wording.plain(self)

    def _repr_html_(self) -> str:
        return notebook.html(self)


def bound(answer: Answer, feedback: Callable[..., Feedback] | None) -> Answer:
    """The same answer, which knows now how to be graded."""
    object.__setattr__(answer, "_feedback", feedback)
    return answer


_UNASKED = ("signals", "guarantee", "notice")
"""Fields that a reply has only where there is something in them."""


def _jsonable(value: Any) -> Any:
    """Tuples to lists, all the way down."""
    if isinstance(value, dict):
        return {name: _jsonable(item) for name, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in cast("list[Any]", value)]
    return value
