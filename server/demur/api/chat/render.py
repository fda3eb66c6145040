"""Answers as `chat.completion` objects: choices, finish reasons, usage, and the whole reply in `demur`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from demur.answering import Answer, Final, new_id
from demur.api.chat.forms import Form
from demur.api.chat.logprobs import chat_logprobs
from demur.api.chat.schemas import (
    AbstainAs,
    CalledFunction,
    ChatChunk,
    ChatCompletion,
    ChatReplyMessage,
    ChatUsage,
    Choice,
    FinishReason,
    ToolCall,
)
from demur.core.answers import Reason

_ABSTAINED: Mapping[Reason, str] = {
    "confidence_missing": "the output did not say how sure it is",
    "confidence_invalid": "what the output gave as its confidence is no probability",
    "answer_missing": "the output held no answer that could be read",
    "truncated": "the output was cut off at the token limit",
    "idk": "the chance of being right was judged too low for the risk you allow",
}
MOST_FIELDS_NAMED = 5
"""In the sentence of an abstention."""


@dataclass(frozen=True, slots=True)
class Style:
    """Settings of a request's replies: where an abstention is written, the JSON Schema asked for, stop sequences."""

    abstain_as: AbstainAs = "content"
    form: Form | None = None
    stops: Sequence[str] = ()


def content(answer: Answer, stops: Sequence[str] = ()) -> str:
    """The `content` of an answer's message: the text with the answer after it.

    The text is cut where it first has one of `stops`; the answer itself never is.
    """
    text = _cut(answer.text or "", stops)
    return f"{text}\n\nAnswer: {answer.answer}" if text else answer.answer or ""


def abstention(answer: Answer) -> str:
    """The sentence of an abstention: why there is no answer."""
    doubtful = [field for field in answer.fields or () if field.decision == "highlight"]
    if answer.reason == "below_threshold" and doubtful:
        named = ", ".join(
            f"{field.path or 'the value'} ({_stated(field.confidence)})" for field in doubtful[:MOST_FIELDS_NAMED]
        )
        why = f"the confidence of {named} is below {_bar(answer)}"
    elif answer.reason == "below_threshold":
        why = f"the confidence is {_stated(answer.confidence)}, below {_bar(answer)}"
    else:
        why = _ABSTAINED[answer.reason or "answer_missing"]
    return f"I abstain: {why}."


def _bar(answer: Answer) -> str:
    """What the caller asked for that the confidence does not reach."""
    if answer.guarantee is None:
        return f"your risk threshold of {answer.risk_threshold:g}"
    rate = f"{100 * answer.guarantee.max_error:.3g} %"
    kept = f"at most {rate} are wrong" if answer.guarantee.exact else f"about {rate} are wrong, by estimate"
    return f"the {answer.guarantee.threshold:.2f} from which on {kept}"


def completion(chat_id: str, created: int, finals: Sequence[Final], style: Style) -> ChatCompletion:
    """A `chat.completion` object, its choices in order."""
    return ChatCompletion(
        id=chat_id,
        created=created,
        model=finals[0].answer.model,
        choices=[_choice(index, final, style) for index, final in enumerate(finals)],
        usage=usage(finals),
    )


def usage_chunk(chat_id: str, created: int, finals: Sequence[Final]) -> ChatChunk:
    """The last chunk, with token counts and no choice: `stream_options.include_usage`."""
    return ChatChunk(id=chat_id, created=created, model=finals[0].answer.model, choices=[], usage=usage(finals))


def usage(finals: Sequence[Final]) -> ChatUsage:
    prompt = max(final.answer.usage.prompt_tokens or 0 for final in finals)
    written = sum(final.answer.usage.completion_tokens or 0 for final in finals)
    return ChatUsage(prompt_tokens=prompt, completion_tokens=written, total_tokens=prompt + written)


def _choice(index: int, final: Final, style: Style) -> Choice:
    said = message(final.answer, style)
    return Choice(
        index=index,
        message=said,
        logprobs=chat_logprobs(final.logprobs),
        finish_reason=finish_reason(final, said, style),
        demur=final.answer,
    )


def message(answer: Answer, style: Style) -> ChatReplyMessage:
    """The assistant's message of an answer or an abstention: text, a refusal, or a tool call."""
    if answer.decision == "abstain":
        sentence, refused = abstention(answer), style.abstain_as != "content"
        return ChatReplyMessage(content=None if refused else sentence, refusal=sentence if refused else None)
    if style.form is None:
        return ChatReplyMessage(content=content(answer, style.stops), refusal=None)
    if style.form.tool is None:
        return ChatReplyMessage(content=answer.answer, refusal=None)
    called = CalledFunction(name=style.form.tool, arguments=answer.answer or "")
    return ChatReplyMessage(content=None, refusal=None, tool_calls=[ToolCall(id=new_id("call"), function=called)])


def finish_reason(final: Final, message: ChatReplyMessage, style: Style) -> FinishReason:
    """How a choice ended. As OpenAI has it, a tool that was chosen by name ends with "stop", one that was only required
    does not."""
    chosen = message.tool_calls and style.form is not None and not style.form.named
    return "tool_calls" if chosen else final.finish_reason


def _cut(text: str, stops: Sequence[str]) -> str:
    found = [place for stop in stops if (place := text.find(stop)) >= 0]
    return text[: min(found)].rstrip() if found else text


def _stated(confidence: float | None) -> str:
    return "not stated" if confidence is None else f"{confidence:.2f}"
