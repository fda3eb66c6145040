"""The settings of one run, each written once: the command line, the run manifest, the resume check and the requests
are derived from the fields and what is marked on them."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import typer

from demur.cli_options import key_option
from demur.core.answers import Aggregation, Granularity
from demur.core.contracts import CONTRACTS
from demur.core.selection import RULES
from demur.evaluation.datasets.base import GraderName
from demur.evaluation.field_marks import GROWS, SENT, SENT_TO_DEMUR, UNRECORDED, RecordedAs
from demur.evaluation.settings_text import json_object, thresholds
from demur.prompts import Domain, Wording

ApiName = Literal["answers", "chat"]
ASKING, DATA, SAMPLING, GRADING = "Asking", "Data", "Sampling", "Grading"
"""Headings of the help."""


def option(heading: str, text: str, **more: Any) -> Any:
    """An option that `demur evaluate --help` explains by this text under this heading."""
    return typer.Option(help=text, rich_help_panel=heading, **more)


@dataclass(frozen=True, slots=True)
class RunConfig:
    """What one run asks of which model, and how it grades the answers. None leaves a choice to the endpoint.

    A field is an option of `demur evaluate` by its `typer` annotation. It is recorded in the run manifest, and may not
    be another when the run goes on, unless its marks say otherwise (`demur.evaluation.field_marks`). `dataset`,
    `domain` and `grader` are recorded as what they were resolved to. `model` is one of those that the command names.
    """

    dataset: Annotated[
        str,
        typer.Argument(
            help="aime2024, aime2025, beyondaime, math500, gsm8k, simpleqa, triviaqa, a file of questions and answers,"
            " or a hub id (owner/name)."
        ),
        UNRECORDED,
    ]
    base_url: Annotated[str, option(ASKING, "Where the model is served.", envvar="DEMUR_BASE_URL"), GROWS] = (
        "http://127.0.0.1:8000"
    )
    api: Annotated[ApiName, option(ASKING, "answers: a demur server. chat: any OpenAI-compatible host.")] = "answers"
    model: Annotated[str | None, SENT] = None
    contract: Annotated[
        str, key_option(CONTRACTS, help="What the model is asked to print.", rich_help_panel=ASKING), SENT_TO_DEMUR
    ] = "response"
    bare: Annotated[
        bool,
        option(ASKING, "With --api chat: ask for the answer alone. Beside a run with a contract: what that costs."),
        RecordedAs("bare", lambda config: config.bare or None),  # as runs from before this option have it
    ] = False
    granularity: Annotated[
        Granularity | None,
        option(ASKING, "claims: single claims are judged and scored too."),
        RecordedAs("granularity", lambda config: config.granularity or "response"),
    ] = None
    aggregation: Annotated[Aggregation | None, option(ASKING, "From claims to one confidence."), SENT_TO_DEMUR] = None
    confidence_source: Annotated[
        str | None,
        option(ASKING, "Which of the server's signals decides: verbalized, critic, answer_logprob, p_true, ..."),
        SENT_TO_DEMUR,
    ] = None
    max_error: Annotated[
        float | None,
        option(
            ASKING,
            "Let the server keep this error rate (of claims, at that granularity); what came of it is reported.",
            min=0,
            max=1,
        ),
        SENT_TO_DEMUR,
    ] = None
    include_signals: Annotated[
        str | None,
        option(ASKING, "Signals to keep in the rows, commas between: verbalized,answer_logprob,p_true."),
        RecordedAs("include_signals", lambda config: list(config.signals) or None),
    ] = None
    risk_thresholds: Annotated[
        str,
        option(ASKING, "Grid of t for --contract explicit_risk: one run each."),
        RecordedAs("risk_thresholds", lambda config: list(config.grid)),
        GROWS,
    ] = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,0.99"
    concurrency: Annotated[int, option(ASKING, "Questions asked at once.", min=1), UNRECORDED] = 8
    timeout: Annotated[float, option(ASKING, "Seconds for one answer.", min=0.001), UNRECORDED] = 600
    retries: Annotated[int, option(ASKING, "Tries after the first.", min=0), UNRECORDED] = 6
    api_key: Annotated[
        str | None, option(ASKING, "Bearer key; never written down.", envvar="DEMUR_API_KEY"), UNRECORDED
    ] = field(default=None, repr=False)
    data: Annotated[str | None, option(DATA, "File or hub id to take the dataset's rows from."), UNRECORDED] = None
    split: Annotated[str | None, option(DATA, "Split on the hub."), UNRECORDED] = None
    limit: Annotated[int | None, option(DATA, "Only the first questions.", min=1), GROWS] = None
    domain: Annotated[Domain | None, option(DATA, "Wording of the prompt with --api chat."), UNRECORDED] = None
    prompt_wording: Annotated[
        Wording,
        option(DATA, "Prompts of --api chat: as models are trained, or longer for one that was not."),
        UNRECORDED,
    ] = "trained"
    samples: Annotated[int, option(SAMPLING, "Answers for each question.", min=1), SENT_TO_DEMUR, GROWS] = 1
    selection: Annotated[
        str | None,
        key_option(RULES, help="Score one chosen answer a question instead of all samples.", rich_help_panel=SAMPLING),
        SENT_TO_DEMUR,
    ] = None
    temperature: Annotated[float | None, option(SAMPLING, "The paper: 1.0."), SENT] = None
    top_p: Annotated[float | None, option(SAMPLING, "The paper: 0.7."), SENT] = None
    max_tokens: Annotated[int | None, option(SAMPLING, "The paper: 20480.", min=1), SENT] = None
    seed: Annotated[int | None, option(SAMPLING, "Sample i is asked with seed + i."), SENT] = None
    extra_body: Annotated[
        str | None,
        option(SAMPLING, "More request fields: '{\"top_k\": -1}'."),
        RecordedAs("extra", lambda config: config.extra),
    ] = None
    grader: Annotated[GraderName | None, option(GRADING, "How answers are graded."), UNRECORDED] = None
    judge_model: Annotated[str | None, option(GRADING, "Judge, for simpleqa and for claims."), RecordedAs("judge")] = (
        None
    )
    judge_base_url: Annotated[str | None, option(GRADING, "Where it is served. (default: --base-url)"), UNRECORDED] = (
        None
    )
    judge_api_key: Annotated[str | None, option(GRADING, "Its key.", envvar="DEMUR_JUDGE_API_KEY"), UNRECORDED] = field(
        default=None, repr=False
    )
    judge_concurrency: Annotated[int, option(GRADING, "Cases judged at once.", min=1), UNRECORDED] = 8
    judge_extra_body: Annotated[str | None, option(GRADING, "More request fields for the judge."), UNRECORDED] = None
    judge_sees_confidence: Annotated[
        bool, option(GRADING, "Show the claim judge the stated confidences, as the paper did.")
    ] = False

    @property
    def grid(self) -> tuple[float, ...]:
        """The risk thresholds that are asked at; none where the threshold is not part of the prompt."""
        return thresholds(self.risk_thresholds) if CONTRACTS[self.contract].states_threshold else ()

    @property
    def extra(self) -> dict[str, Any]:
        """More fields of every request. Raises EvaluationError where the option holds no JSON object."""
        return json_object(self.extra_body, "--extra-body")

    @property
    def judge_extra(self) -> dict[str, Any]:
        """More fields of every request to the judge. Raises EvaluationError where the option holds no JSON object."""
        return json_object(self.judge_extra_body, "--judge-extra-body")

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that every reply is to show."""
        return tuple(name.strip() for name in (self.include_signals or "").split(",") if name.strip())

    @property
    def chooses_there(self) -> bool:
        """Whether the server draws the samples of a question itself and chooses among them."""
        return self.selection is not None and self.api == "answers"
