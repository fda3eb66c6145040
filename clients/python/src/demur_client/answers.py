"""The answer: what was said, how sure the model is, and whether that was enough."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, cast

from . import notebook, rethreshold, wording
from .values import AnswerValues


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
    """

    def at(self, risk_threshold: float) -> Answer:
        """The same answer at another risk threshold in [0, 1], decided here exactly as the server would.

        What an abstention hides stays in `withheld`, so one can move back. `samples` stays as it was sent.
        Raises RedecideError when the text was never sent (ask with `include_withheld=True`), and for the
        explicit_risk contract, whose threshold is part of the prompt; ValueError for a threshold outside [0, 1].
        """
        return rethreshold.redecide(self, risk_threshold)

    def to_dict(self) -> dict[str, Any]:
        """The reply as JSON values, in the shape it has on the wire."""
        shown = self.contract == "claims" and self.text is not None
        fields = _jsonable(asdict(self))
        withheld = fields["withheld"]
        if withheld and self.contract != "claims":
            withheld["claims"] = None
        fields = {name: value for name, value in fields.items() if value is not None or name not in _UNASKED}
        if self.usage.signal_tokens is None:
            cast("dict[str, Any]", fields["usage"]).pop("signal_tokens")
        return {"id": self.id, "object": "answer"} | fields | {"claims": fields["claims"] if shown else None}

    def __str__(self) -> str:
        return wording.plain(self)

    def _repr_html_(self) -> str:
        return notebook.html(self)


_UNASKED = ("signals", "guarantee", "notice")
"""Fields that a reply has only where there is something in them."""


def _jsonable(value: Any) -> Any:
    """Tuples to lists, all the way down."""
    if isinstance(value, dict):
        return {name: _jsonable(item) for name, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in cast("list[Any]", value)]
    return value
