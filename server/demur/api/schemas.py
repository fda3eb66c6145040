"""The body of `POST /v1/answers`."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from demur.answering import RequestParams, UnresolvedRequest
from demur.answering.errors import InvalidRequest
from demur.api.chat.forms import JsonObject
from demur.api.messages import Messages, Text, conversation
from demur.engine.base import Message
from demur.field_types import NotNull, drop_null_defaults


def _document(schema: dict[str, Any]) -> None:
    drop_null_defaults(schema)
    schema["oneOf"] = [{"required": ["question"]}, {"required": ["messages"]}]


class AnswerRequest(RequestParams):
    """One question, or a conversation that ends with one, and how to answer it."""

    model_config = ConfigDict(json_schema_extra=_document)

    question: Annotated[Text | None, Field(json_schema_extra={"pattern": r"\S"}), NotNull()] = None
    messages: Annotated[Messages | None, NotNull()] = None
    schema_: Annotated[
        JsonObject | None,
        Field(
            alias="schema",
            description="A JSON Schema: the answer is JSON that fits it, and `fields` tells how sure each value is.",
        ),
        NotNull(),
    ] = None
    stream: bool = Field(default=False, description="Server-sent events instead of one JSON object.")

    def to_request(self) -> UnresolvedRequest:
        """The request as the answering service takes it. Raises InvalidRequest unless exactly one of question and
        messages is there, and where the messages do not end with a question."""
        if self.question is not None and self.messages is not None:
            raise InvalidRequest("give either question or messages, not both", "messages")
        if self.messages is not None:
            return UnresolvedRequest(conversation(self.messages), self, "messages", self.schema_)
        if self.question is not None:
            return UnresolvedRequest((Message(role="user", content=self.question),), self, schema=self.schema_)
        raise InvalidRequest("give a question, or messages that end with one", "question")
