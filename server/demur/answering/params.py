"""The request parameters that every API shares: their types, bounds and documentation."""

from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BeforeValidator, ConfigDict, FailFast, Field, WithJsonSchema

from demur.answering.confidence import SOURCES
from demur.answering.doubt import OnDoubt
from demur.core.answers import Aggregation, Granularity
from demur.core.contracts import ALL_CONTRACTS
from demur.core.fields.schema import Schema
from demur.core.selection import RULES
from demur.core.stopping import Stopping
from demur.engine.base import Message
from demur.field_types import (
    LARGEST_COUNT,
    LONGEST_KEY,
    LONGEST_VALUE,
    MAX_ENTRIES,
    WHOLE,
    AtMost,
    BoundedModel,
    Count,
    KeyOf,
    NotNull,
    drop_null_defaults,
)

SMALLEST_SEED, LARGEST_SEED = -(2**63), 2**64 - 1
"""Any 64 bits, signed or not. Not every JSON reader keeps those beyond 2**53 apart."""

MOST_BIASES = 1_024
"""Entries of `logit_bias`."""


def _plain(value: Any) -> Any:
    if isinstance(value, (dict, list)) or (isinstance(value, str) and len(value) > LONGEST_VALUE):
        raise ValueError(f"has to be a number, true, false, null or text of at most {LONGEST_VALUE} characters")
    return value


TemplateValue = Annotated[
    Any,
    AfterValidator(_plain),
    WithJsonSchema({"type": ["boolean", "number", "string", "null"], "maxLength": LONGEST_VALUE}),
]
SHORTEST_TIMEOUT = 0.05
"""Seconds; nothing answers in less, so that less could only mean a mistake."""

MOST_SIGNALS = 16
"""Names in one request."""


def _listed(given: object) -> object:
    """JSON has lists alone; values are kept as tuples. The length is looked at before each name is."""
    if isinstance(given, list) and len(cast("list[object]", given)) > MOST_SIGNALS:
        raise ValueError(f"at most {MOST_SIGNALS} names, not {len(cast('list[object]', given))}")
    return tuple(cast("list[object]", given)) if isinstance(given, list) else given


Seed = Annotated[int, Field(ge=SMALLEST_SEED, le=LARGEST_SEED), WHOLE]
TopK = Annotated[int, Field(ge=-1, le=LARGEST_COUNT), WHOLE]
Penalty = Annotated[float, Field(ge=-2, le=2)]
_TOKEN_ID = r"^[0-9]{1,9}$"
LogitBias = Annotated[
    dict[Annotated[str, Field(pattern=_TOKEN_ID)], Annotated[float, Field(ge=-100, le=100)]],
    Field(
        max_length=MOST_BIASES,
        json_schema_extra={"additionalProperties": False},
    ),
    AtMost(MOST_BIASES),
]
TemplateFields = Annotated[
    dict[Annotated[str, Field(max_length=LONGEST_KEY)], TemplateValue],
    Field(max_length=MAX_ENTRIES),
    AtMost(MAX_ENTRIES),
]


class RequestParams(BoundedModel):
    """Parameters of one request. Numbers are numbers, never strings; unknown fields are errors.

    The four settings of sampling that OpenAI's clients share may be null; every other field may only be left out.
    """

    model_config = ConfigDict(allow_inf_nan=False, json_schema_extra=drop_null_defaults)

    model: Annotated[str | None, Field(description="The served model's name."), NotNull()] = None
    contract: Annotated[
        Annotated[str, KeyOf(ALL_CONTRACTS)] | None,
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
    max_error: Annotated[
        float | None,
        Field(
            ge=0,
            le=1,
            description="In place of `risk_threshold`: abstain so that at most this share of the given answers is "
            "wrong, as certified by graded answers (see `guarantee` in the reply). Served by the greatest certified "
            "level not above it; 409 where there is none. Needs a calibrator that fits the request.",
        ),
        NotNull(),
    ] = None
    aggregation: Annotated[
        Aggregation | None,
        Field(description="From the confidences of claims or fields to the confidence. For contracts that have them."),
        NotNull(),
    ] = None
    on_doubt: Annotated[
        OnDoubt | None,
        Field(
            description="With a schema: what becomes of fields below the risk threshold. `keep` marks them, `null` "
            "empties them where the schema lets all of them be null and else abstains, `abstain` withholds the answer "
            "where the aggregate is below. Callers with a least risk threshold cannot `keep`; their default is "
            "`abstain`."
        ),
        NotNull(),
    ] = None
    explain_fields: bool = Field(default=False, description="With a schema: a short reason beside each confidence.")
    confidence_source: Annotated[
        Annotated[str, KeyOf(SOURCES)] | None,
        Field(
            description="`verbalized`: what the model wrote. `critic`: the value that the model's critic gives the "
            "whole answer, for models that are served with one. `answer_logprob`: the likelihood of the answer's "
            "tokens. `agreement`: the share of the other samples that give the same answer; needs `samples` above 1. "
            "`p_true`: what one more call says to the question whether the answer is right. All but the first are for "
            "whole answers, not for single claims. `calibrated`: P(correct) by a calibrator that was fitted on graded "
            "answers; it decides by default where one fits, else the operator's choice."
        ),
        NotNull(),
    ] = None
    samples: Count = Field(default=1, description="How many samples are drawn at most.")
    selection: Annotated[str, KeyOf(RULES)] = Field(
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
        "(contract claims, granularity response) once its claims so far are too doubtful: only a solution that began "
        "anew could still be answered.",
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
    seed: Seed | None = Field(default=None, description="Sample i is drawn with `seed + i`.")
    timeout: Annotated[float | None, Field(ge=SHORTEST_TIMEOUT, description="Seconds until a 504."), NotNull()] = None
    frequency_penalty: Penalty | None = Field(default=None, description="Taken from a token's logit for each time.")
    presence_penalty: Penalty | None = Field(default=None, description="Taken from a token's logit once it was used.")
    repetition_penalty: float | None = Field(default=None, gt=0, le=10, description="As in vLLM; 1 changes nothing.")
    top_k: TopK | None = Field(default=None, description="As in vLLM; 0 and -1 keep all.")
    min_p: float | None = Field(default=None, ge=0, le=1, description="As in vLLM; 0 keeps all.")
    logit_bias: LogitBias | None = Field(default=None, description="Token id -> what is added to its logit.")
    chat_template_kwargs: TemplateFields | None = Field(
        default=None, description="Further arguments of the model's chat template, such as `enable_thinking`."
    )
    include_withheld: bool = Field(default=False, description="Show withheld text; 403 where the operator forbids it.")
    include_raw: bool = Field(default=False, description="Show the model's output as it was, unless it is withheld.")
    include_token_values: bool = Field(
        default=False,
        description="Show, token by token, what success the model's critic expected. It pictures the expected success "
        "of the whole answer, never whether a step is right.",
    )
    include_conditions: bool = Field(
        default=False,
        description="Show what the answer was drawn under, which a calibrator is matched by.",
    )
    include_signals: Annotated[
        tuple[Annotated[str, KeyOf(SOURCES)], ...],
        Field(max_length=MOST_SIGNALS),
        FailFast(),
        BeforeValidator(_listed),
    ] = Field(
        default=(),
        description="Show these signals beside the confidence, by name, see `confidence_source`; each costs what it "
        "takes. One that is missing is null with the reason. After an abstention that withholds the answer only the "
        "one that decided is shown.",
    )


@dataclass(frozen=True, slots=True)
class UnresolvedRequest:
    """One request as it came in: the messages, the parameters, the JSON Schema of the answer if there is one, and the
    names of the fields that had messages and schema. `logprobs` asks for those of the visible text, with up to so many
    of the likeliest tokens beside each."""

    messages: tuple[Message, ...]
    params: RequestParams
    field: str = "question"
    schema: Schema | None = None
    schema_field: str = "schema"
    logprobs: int | None = None
