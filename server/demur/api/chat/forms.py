"""`response_format` and forced tools: two ways in which OpenAI's clients ask for JSON of a schema of theirs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from demur.answering.errors import InvalidRequest
from demur.core.fields import ANY_OBJECT
from demur.core.fields.schema import Schema
from demur.field_types import AtMost, BoundedModel, Name

MOST_TOOLS = 128
"""Of one request."""
MOST_KEYWORDS = 256
"""Of the outermost level of a schema; how large the whole may be is judged when it is read."""
JsonObject = Annotated[dict[str, Any], Field(max_length=MOST_KEYWORDS), AtMost(MOST_KEYWORDS)]
Description = Annotated[str, Field(max_length=10_000)]


class JsonSchema(BoundedModel):
    """A schema by name. It is always followed, whatever `strict` says."""

    name: Name
    description: Description | None = None
    schema_: JsonObject | None = Field(default=None, alias="schema")
    strict: bool | None = None


class TextFormat(BoundedModel):
    type: Literal["text"]


class JsonObjectFormat(BoundedModel):
    type: Literal["json_object"]


class JsonSchemaFormat(BoundedModel):
    type: Literal["json_schema"]
    json_schema: JsonSchema


ResponseFormat = Annotated[TextFormat | JsonObjectFormat | JsonSchemaFormat, Field(discriminator="type")]


class Function(BoundedModel):
    name: Name
    description: Description | None = None
    parameters: JsonObject | None = None
    strict: bool | None = None


class Tool(BoundedModel):
    type: Literal["function"]
    function: Function


class ChosenFunction(BoundedModel):
    name: Name


class ChosenTool(BoundedModel):
    type: Literal["function"]
    function: ChosenFunction


Tools = Annotated[list[Tool], Field(max_length=MOST_TOOLS, fail_fast=True)]
ToolChoice = Literal["none", "auto", "required"] | ChosenTool


@dataclass(frozen=True, slots=True)
class Form:
    """The JSON that is asked for: its schema, the request field that has it, and the tool that it is the arguments of.

    `named` says that the tool was chosen by name.
    """

    schema: Schema
    field: str
    tool: str | None = None
    named: bool = False


def form_of(wanted: ResponseFormat | None, tools: Sequence[Tool] | None, choice: ToolChoice | None) -> Form | None:
    """The JSON Schema that `response_format` or a forced tool asks for; None where text is.

    Without a choice tools may be left alone, and are. Raises InvalidRequest."""
    if isinstance(choice, ChosenTool):
        return _arguments(tools or [], choice.function.name)
    if choice == "required":
        if len(tools or []) != 1:
            raise InvalidRequest("'required' needs exactly one tool; with several, name the one", "tool_choice")
        return _arguments(tools or [], None)
    match wanted:
        case JsonObjectFormat():
            return Form(ANY_OBJECT, "response_format")
        case JsonSchemaFormat(json_schema=described):
            return Form(_titled(described.schema_ or ANY_OBJECT, None, described.description), "response_format")
        case _:
            return None


def _arguments(tools: Sequence[Tool], name: str | None) -> Form:
    found = next((tool.function for tool in tools if name in (None, tool.function.name)), None)
    if found is None:
        raise InvalidRequest(f"no tool is called {name!r:.80}", "tool_choice")
    schema = found.parameters if found.parameters is not None else {"type": "object", "additionalProperties": False}
    return Form(_titled(schema, found.name, found.description), "tools", found.name, named=name is not None)


def _titled(schema: Schema, title: str | None, description: str | None) -> Schema:
    """With name and description, which the model reads in the schema."""
    notes = {"title": title, "description": description}
    return {name: note for name, note in notes.items() if note and name not in schema} | dict(schema)
