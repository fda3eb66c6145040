"""Answers as chat completions."""

from collections.abc import Iterator, Mapping, Sequence

from demur.answering import Answer, Final
from demur.api.chat.schemas import (
    ChatChunk,
    ChatCompletion,
    ChatDelta,
    ChatReplyMessage,
    ChatUsage,
    Choice,
    ChunkChoice,
)
from demur.core.answers import Reason

_ABSTAINED: Mapping[Reason, str] = {
    "confidence_missing": "the output did not say how sure it is",
    "confidence_invalid": "what the output gave as its confidence is no probability",
    "answer_missing": "the output held no answer that could be read",
    "truncated": "the output was cut off at the token limit",
    "idk": "the chance of being right was judged too low for the risk you allow",
}


def content(answer: Answer) -> str:
    """What a person reads: the text with the answer after it, or a sentence that says why there is none.

    It comes after the decision, so an abstention shows its sentence alone; text that is shown all the same is in
    `demur`.
    """
    if answer.decision == "abstain":
        return abstention(answer)
    return f"{answer.text}\n\nAnswer: {answer.answer}" if answer.text else answer.answer or ""


def abstention(answer: Answer) -> str:
    """Why there is no answer, in one sentence."""
    if answer.reason == "below_threshold":
        why = f"the confidence is {answer.confidence:.2f}, below your risk threshold of {answer.risk_threshold:g}"
    else:
        why = _ABSTAINED[answer.reason or "answer_missing"]
    return f"I abstain: {why}."


def completion(chat_id: str, created: int, finals: Sequence[Final]) -> ChatCompletion:
    """The reply in one piece, choices in order."""
    return ChatCompletion(
        id=chat_id,
        created=created,
        model=finals[0].answer.model,
        choices=[_choice(index, final) for index, final in enumerate(finals)],
        usage=usage(finals),
    )


def chunks(chat_id: str, created: int, index: int, final: Final) -> Iterator[ChatChunk]:
    """One choice of a streamed reply; its last chunk has the finish reason and the whole answer."""
    answer = final.answer
    refusal = abstention(answer) if answer.decision == "abstain" else None
    deltas = [ChatDelta(role="assistant", content="")]
    deltas += [ChatDelta(content=line) for line in content(answer).splitlines(keepends=True)]
    if refusal is not None:
        deltas.append(ChatDelta(refusal=refusal))
    choices = [ChunkChoice(index=index, delta=delta) for delta in deltas]
    choices.append(ChunkChoice(index=index, delta=ChatDelta(), finish_reason=final.finish_reason, demur=answer))
    for choice in choices:
        yield ChatChunk(id=chat_id, created=created, model=answer.model, choices=[choice])


def usage_chunk(chat_id: str, created: int, finals: Sequence[Final]) -> ChatChunk:
    """The chunk after all choices that `include_usage` asks for."""
    return ChatChunk(id=chat_id, created=created, model=finals[0].answer.model, choices=[], usage=usage(finals))


def usage(finals: Sequence[Final]) -> ChatUsage:
    prompt = max(final.answer.usage.prompt_tokens or 0 for final in finals)
    written = sum(final.answer.usage.completion_tokens or 0 for final in finals)
    return ChatUsage(prompt_tokens=prompt, completion_tokens=written, total_tokens=prompt + written)


def _choice(index: int, final: Final) -> Choice:
    answer = final.answer
    refusal = abstention(answer) if answer.decision == "abstain" else None
    message = ChatReplyMessage(content=content(answer), refusal=refusal)
    return Choice(index=index, message=message, finish_reason=final.finish_reason, demur=answer)
