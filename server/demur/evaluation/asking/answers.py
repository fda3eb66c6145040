"""Our own API, `POST /v1/answers`. It is asked at t = 0, where everything is answered: thresholds come afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from demur.core.answers import CONTRACTS, Aggregation, Claim, Completion, Contract
from demur.core.reading import read
from demur.evaluation.asking.base import Ask, BadReply, Output, Request


@dataclass(frozen=True, slots=True)
class AnswersApi:
    """Asks a demur server. With `samples` above one the server chooses among them itself, by `selection`."""

    request: Request
    contract: Contract | None = None
    aggregation: Aggregation | None = None
    confidence_source: str | None = None
    samples: int = 1
    selection: str | None = None
    path: str = "/v1/answers"
    withheld: bool = True

    def body(self, ask: Ask) -> dict[str, Any]:
        """The request. Claims are asked for at granularity "response", so that an answer comes whatever was claimed.

        An output without a readable answer is an abstention at every threshold: its raw text is withheld text.
        """
        fields = {
            "include_withheld": True if self.withheld else None,
            "contract": self.contract,
            "granularity": "response" if self.contract == "claims" else None,
            "aggregation": self.aggregation,
            "confidence_source": self.confidence_source,
            "samples": self.samples if self.samples > 1 else None,
            "selection": self.selection,
        }
        chosen = {name: value for name, value in fields.items() if value is not None}
        t = ask.key.risk_threshold or 0.0
        return {"question": ask.text, "risk_threshold": t, "include_raw": True, **chosen, **self.request.fields(ask)}

    def output(self, body: Any) -> Output:
        """Read a reply of the wire format."""
        if not isinstance(body, Mapping) or "decision" not in body or "answer" not in body:
            raise BadReply("the reply is no answer object (is this a demur server? --api chat speaks to others)")
        try:
            return _read(body)
        except (KeyError, TypeError, ValueError) as error:
            raise BadReply(f"the answer object cannot be read: {type(error).__name__} {error}") from None

    def without(self, param: str | None) -> "AnswersApi | None":
        """Withheld text can be spared: operators may forbid it."""
        return replace(self, withheld=False) if self.withheld and param == "include_withheld" else None


def _read(body: Mapping[str, Any]) -> Output:
    confidence = None if body.get("confidence") is None else float(body["confidence"])
    raw, wrote, shown = body.get("raw"), _wrote(body), body.get("withheld") or body
    return Output(
        answer=body["answer"],
        confidence=confidence,
        state="value" if confidence is not None else "invalid" if _invalid(body, wrote) else "missing",
        text=shown.get("text") or "",
        claims=tuple(_claim(claim) for claim in shown.get("claims") or ()),
        idk=body.get("reason") == "idk",
        truncated=body.get("reason") == "truncated",
        raw=raw,
        tokens=int((body.get("usage") or {}).get("completion_tokens") or 0),
        stated=confidence if body.get("confidence_source") != "critic" else wrote.confidence if wrote else None,
    )


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
    start, end = claim["span"]
    explanation, problems = claim.get("explanation") or "", tuple(claim.get("problems") or ())
    return Claim(claim["text"], (start, end), claim["confidence"], explanation, problems)
