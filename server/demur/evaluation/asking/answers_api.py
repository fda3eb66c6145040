"""Our own API, `POST /v1/answers`. It is asked at t = 0, where everything is answered: thresholds come afterwards.

Under `max_error` the server decides, and what it withholds is asked for as well: it is scored like everything else."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from demur.core.answers import Claim, Completion
from demur.core.contracts import CONTRACTS
from demur.core.reader import read
from demur.evaluation.asking.base import BadReply, EvaluationRequest, Output, Request, tokens_of
from demur.http_client import one_line


@dataclass(frozen=True, slots=True)
class AnswersApi:
    """Asks a demur server, which may choose among samples itself: then `request` says among how many, and how.

    `asserts` is for the error rate of claims: the server decides on each of them.
    """

    request: Request
    path: str = "/v1/answers"
    withheld: bool = True
    conditions: bool = True
    asserts: bool = False

    def body(self, ask: EvaluationRequest) -> dict[str, Any]:
        """The request. Claims are asked for at granularity "response", so that an answer comes whatever was claimed,
        but for an error rate of claims.

        An output without a readable answer is an abstention at every threshold: its raw text is withheld text.
        """
        body: dict[str, Any] = {"question": ask.text, "include_raw": True}
        if "max_error" not in self.request.fields:
            body["risk_threshold"] = ask.key.risk_threshold or 0.0
        if self.withheld:
            body["include_withheld"] = True
        if self.conditions:
            body["include_conditions"] = True
        contract = CONTRACTS.get(self.request.fields.get("contract", ""))
        if contract is not None and contract.has_claims:
            body["granularity"] = "claims" if self.asserts else "response"
        return body | self.request.of(ask)

    def output(self, body: Any) -> Output:
        """Read a reply of the wire format."""
        if not isinstance(body, Mapping) or "decision" not in body or "answer" not in body:
            raise BadReply("the reply is no answer object (is this a demur server? --api chat speaks to others)")
        try:
            return _read(body)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise BadReply(f"the answer object cannot be read: {type(error).__name__} {one_line(error)}") from None

    def without(self, param: str | None) -> "AnswersApi | None":
        """Withheld text can be spared, since operators may forbid it; conditions, which older servers do not know."""
        if self.withheld and param == "include_withheld":
            return replace(self, withheld=False)
        return replace(self, conditions=False) if self.conditions and param == "include_conditions" else None


def _read(body: Mapping[str, Any]) -> Output:
    confidence = _probability(body.get("confidence"))
    raw, wrote, shown = _text(body.get("raw")), _wrote(body), body.get("withheld") or body
    return Output(
        answer=_text((shown if body.get("guarantee") else body).get("answer")),
        confidence=confidence,
        state="value" if confidence is not None else "invalid" if _invalid(body, wrote) else "missing",
        text=_text(shown.get("text")) or "",
        claims=tuple(_claim(claim) for claim in shown.get("claims") or ()),
        idk=body.get("reason") == "idk",
        truncated=body.get("reason") == "truncated",
        raw=raw,
        tokens=tokens_of(body.get("usage")),
        settled=_text((body.get("settled") or {}).get("by")),
        stated=confidence if _is_stated(body) else wrote.confidence if wrote else None,
        signals=_signals(body, confidence),
        source=_text(body.get("confidence_source")) or "verbalized",
        conditions=body.get("conditions"),
        decision=_text(body["decision"]),
        guarantee=body.get("guarantee"),
        granularity=_text(body.get("granularity")),
    )


def _is_stated(body: Mapping[str, Any]) -> bool:
    return body.get("confidence_source", "verbalized") in ("verbalized", "none")


def _signals(body: Mapping[str, Any], confidence: float | None) -> dict[str, float | None] | None:
    """Those that the reply shows, and the one that decided; a calibrator's number is made of signals and is none.

    Raises ValueError for one that is no probability.
    """
    if body.get("signals") is None:
        return None
    shown = {str(_text(name)): _probability(signal["value"]) for name, signal in body["signals"].items()}
    source = str(body.get("confidence_source"))
    found = shown if source == "none" else {source: confidence, **shown}
    return {name: value for name, value in found.items() if name != "calibrated"}


def _wrote(body: Mapping[str, Any]) -> Completion | None:
    """The model's own output, read: it says why there is no confidence, and what was stated beside a critic's."""
    raw, contract = body.get("raw"), body.get("contract")
    if raw is None or contract not in CONTRACTS:
        return None
    return read(raw, contract, aggregation=body.get("aggregation") or "min")


def _invalid(body: Mapping[str, Any], wrote: Completion | None) -> bool:
    """Whether a confidence was stated that is no probability: by the output itself, or in the group that was chosen.

    At t = 0 the reply's reason does not say so, because an answer is given without one.
    """
    if body.get("reason") == "confidence_invalid" or (wrote is not None and wrote.state == "invalid"):
        return True
    samples = body.get("samples") or {}
    chosen = 0 if samples.get("groups") else None
    return any(one["state"] == "invalid" for one in samples.get("members") or () if one["group"] == chosen)


def _claim(claim: Mapping[str, Any]) -> Claim:
    start, end = map(int, claim["span"])
    problems = tuple(str(_text(problem)) for problem in claim.get("problems") or ())
    confidence, explanation = _probability(claim["confidence"]), _text(claim.get("explanation")) or ""
    return Claim(str(_text(claim["text"])), (start, end), confidence, explanation, problems)


def _probability(value: Any) -> float | None:
    """Raises ValueError for what is none: a row with it would spoil every figure."""
    if value is not None and not (type(value) in (int, float) and 0 <= value <= 1):
        raise ValueError("a confidence that is no probability")
    return None if value is None else float(value)


def _text(value: Any) -> str | None:
    if not isinstance(value, str | None):
        raise TypeError("a text that is none")
    return value
