"""What a caller can ask for: the fields every API shares, their bounds, and what they say in the documentation."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from demur.answering.bounded import BoundedModel, Count
from demur.core.answers import Aggregation, Contract, Granularity
from demur.core.selection import SelectionRule
from demur.core.stopping import Stopping
from demur.engine.base import Message

ConfidenceSource = Literal["verbalized", "critic"]

LARGEST_SEED = 2**53 - 2**20
"""Whole numbers up to 2**53 survive every JSON reader; sample i adds i."""

SHORTEST_TIMEOUT = 0.05
"""Seconds; nothing answers in less, so that less could only mean a mistake."""


class NotNull:
    """For a field whose None means "left out": a null over the wire is an error."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_refuse_null, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        documented = handler(schema)
        kept = [kind for kind in documented.pop("anyOf", []) if kind != {"type": "null"}]
        return {**documented, **(kept[0] if kept else {})}


def _refuse_null(value: Any) -> Any:
    if value is None:
        raise ValueError("may be left out, but not null")
    return value


def drop_null_defaults(schema: dict[str, Any]) -> None:
    """What a field is when it is left out is the model's or the operator's choice: the documentation names none."""
    for described in schema["properties"].values():
        if "default" in described and described["default"] is None:
            del described["default"]


class Asked(BoundedModel):
    """Settings of one request. Numbers are numbers, never strings; unknown fields are errors.

    The four settings of sampling that OpenAI's clients share may be null; every other field may only be left out.
    """

    model_config = ConfigDict(allow_inf_nan=False, json_schema_extra=drop_null_defaults)

    model: Annotated[str | None, Field(description="The served model's name."), NotNull()] = None
    contract: Annotated[
        Contract | None,
        Field(description="Which prompt is built and how the output is read; by default the model's first."),
        NotNull(),
    ] = None
    granularity: Annotated[
        Granularity | None,
        Field(
            description="The level of the decision. `claims` needs the claims contract, and is its default; 403 for "
            "callers with a least risk threshold, whose default is `response`."
        ),
        NotNull(),
    ] = None
    risk_threshold: Annotated[
        float | None,
        Field(
            ge=0,
            le=1,
            description="Abstain if and only if the confidence is below this. 403 where it is less than the operator, "
            "or the caller's key, has set as the least; left out, it is at least that.",
        ),
        NotNull(),
    ] = None
    aggregation: Annotated[
        Aggregation | None,
        Field(description="From claim confidences to the confidence. Claims contract only."),
        NotNull(),
    ] = None
    confidence_source: Annotated[
        ConfidenceSource | None,
        Field(
            description="`verbalized`: what the model wrote. `critic`: the value that the model's critic gives the "
            "whole answer, for models that are served with one; not for single claims."
        ),
        NotNull(),
    ] = None
    samples: Count = Field(default=1, description="How many samples are drawn at most.")
    selection: SelectionRule = Field(
        default="majconf",
        description="How one of several samples is chosen: the group of equal answers with the highest confidence "
        "(`maxconf`), the largest sum of confidences (`majconf`) or the most samples (`majority`). Ties are broken by "
        "what the rule counts next, then by the smaller canonical answer, never by the order of arrival. The "
        "confidence is the highest that the chosen group states; for `majority` the mean of their log odds.",
    )
    stopping: Stopping = Field(
        default="none",
        description="When to stop drawing before all samples are there. `decided`: when the rest cannot change the "
        "winner, which is that of all `samples`, while its confidence and spelling are those of the samples drawn. "
        "`confident`: also when another winner is unlikely, see `error_budget`. Either also stops a single sample "
        "(contract claims, granularity response) once its claims so far make abstaining certain.",
    )
    error_budget: float = Field(
        default=0.01,
        gt=0,
        lt=1,
        description="Chance of another winner that stopping `confident` may take. It is "
        "reckoned with samples that are exchangeable, a uniform prior on how the leader and each rival share them, and "
        "samples to come that all vote in full for one of the two: not promised where wrong answers come first.",
    )
    max_tokens: Count | None = Field(default=None, description="Longest output of one sample, in tokens.")
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = Field(default=None, ge=0, le=LARGEST_SEED, description="Sample i is drawn with `seed + i`.")
    timeout: Annotated[float | None, Field(ge=SHORTEST_TIMEOUT, description="Seconds until a 504."), NotNull()] = None
    include_withheld: bool = Field(default=False, description="Show withheld text; 403 where the operator forbids it.")
    include_raw: bool = Field(default=False, description="Show the model's output as it was, unless it is withheld.")
    include_token_values: bool = Field(
        default=False,
        description="Show, token by token, what success the model's critic expected. It pictures the expected success "
        "of the whole answer, never whether a step is right.",
    )


@dataclass(frozen=True, slots=True)
class Question:
    """One request: the conversation, the settings, and the name of the field the conversation came in."""

    turns: tuple[Message, ...]
    asked: Asked
    param: str = "question"
