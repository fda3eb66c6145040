"""What the operator of a server decides. Every field is DEMUR_<NAME> in the environment; the defaults are vetted."""

import ipaddress
import json
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from demur.core.parsing.labels import LABELS, Labels
from demur.field_types import KeyOf
from demur.label_file import read_labels
from demur.serving.engine_loaders import ENGINES

Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]


class UpstreamSettings(BaseModel):
    """One OpenAI-compatible host. `key_env` names the environment variable that holds the key for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: Annotated[str, Field(pattern=r"^https?://[^\s@]+$")]
    limit: Annotated[int, Field(ge=1, le=1000)] | None = None
    key_env: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _url_alone(cls, given: object) -> object:
        return {"url": given} if isinstance(given, str) else given


class Settings(BaseSettings):
    """Frozen. Arguments win over the environment, the environment over the defaults."""

    model_config = SettingsConfigDict(env_prefix="DEMUR_", frozen=True, extra="forbid")

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    model: str | None = Field(default=None, description="Model folder or hub id; the embedded model when absent.")
    engine: Annotated[str, KeyOf(ENGINES)] = Field(
        default="vllm", description="What answers: vLLM in process, OpenAI-compatible hosts, or the scripted demo."
    )
    upstreams: Annotated[tuple[UpstreamSettings, ...], NoDecode] = Field(
        default=(),
        description="The hosts of engine openai: URLs with commas between, or JSON with url, limit, key_env",
    )
    upstream_limit: Count = Field(default=256, le=1000, description="Samples in flight at one upstream.")
    upstream_key: SecretStr | None = Field(default=None, description="For upstreams without a key_env of their own.")
    upstream_structured_outputs: bool | None = Field(
        default=None, description="Whether upstreams take vLLM's structured_outputs; by default if they say vLLM."
    )
    upstream_continues: bool | None = Field(
        default=None,
        description="Whether upstreams take continue_final_message; by default if they say vLLM. Others are asked for "
        "the rest of a reply in a further turn.",
    )
    engine_restarts: Natural = Field(
        default=3, description="How often an engine that died is started again within the window; then the server ends."
    )
    engine_restart_window: Seconds = Field(default=600.0, description="Seconds in which those restarts count.")
    engine_silence: Seconds = Field(
        default=120.0, description="Seconds without any reply of its process after which an engine counts as dead."
    )
    manifest: Path | None = Field(default=None, description="The model's demur.json, where engine openai serves it.")

    risk_threshold: Probability = Field(default=0.5, description="Used where a request names none.")
    min_risk_threshold: Probability = Field(
        default=0.0, description="The lowest risk threshold of any request; a key may have a higher one."
    )
    confidence_source: str | None = Field(
        default=None, description="What decides where a request names nothing else; verbalized when absent."
    )
    calibrators: Annotated[tuple[Path, ...], NoDecode] = Field(
        default=(),
        description="Files made by demur calibrate, with commas between; each is applied where it fits the request, "
        "and read again when it changes.",
    )
    force_contract: Literal["auto", "tail", "always", "never"] = Field(
        default="auto",
        description="What of an output is forced into its form: the last lines where the model did not end with "
        "readable ones (tail), all of it, or nothing; auto: tail unless the model is calibrated.",
    )
    prompt_wording: Literal["auto", "trained", "untrained"] = Field(
        default="auto",
        description="Which wording prompts have: the one that models are trained with, or the longer one for models "
        "that were not; auto: as the model's manifest says.",
    )
    labels: Annotated[Labels, NoDecode] = Field(
        default=LABELS, description="A file of more words that announce an answer or a confidence, TOML or JSON."
    )
    critic: Literal["on_demand", "at_start", "off"] = Field(
        default="on_demand", description="When the critic of a model that has one is loaded, if at all."
    )
    critic_memory: float = Field(
        default=0.4, gt=0, lt=1, description="The critic's share of vLLM's memory; the model has the rest of it."
    )
    allow_withheld: bool | None = Field(
        default=None,
        description="Whether callers may see withheld text; by default on a loopback address unless there is a "
        "min_risk_threshold, or as their key says.",
    )

    keys_file: Path | None = Field(default=None, description="Callers need one of the keys in it; see demur keys.")
    keys: str | None = Field(default=None, description="The same as the text of such a file.", repr=False)
    keys_max_age: Seconds = Field(
        default=900.0, description="Seconds for which keys still open whose file cannot be read any more."
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Names in the Host header, with commas between; others are refused. On a loopback address this "
        "machine's names always go, and no others do unless they are here; elsewhere any name goes unless some are.",
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Origins of pages whose scripts may call this server, with commas between, such as "
        "https://app.example.org; none by default, * for any.",
    )
    abstain_as: Literal["content", "refusal", "error"] | None = Field(
        default=None,
        description="How chat completions and responses say that there is no answer, where neither request nor key "
        "does; by default content for text and refusal for structured output.",
    )
    allow_anonymous: bool = Field(
        default=False, description="Serve without keys even on an address that others can reach."
    )

    max_question_chars: Count = Field(default=32_000, description="All messages of one request together.")
    max_body_bytes: Count = Field(default=1_048_576, description="Size of a request body.")
    receive_timeout: Seconds = Field(default=20.0, description="Seconds for a request's head, and for its body.")
    max_samples: Count = Field(default=64, description="Samples drawn for one request, all choices together.")
    timeout: Seconds = Field(default=120.0, description="Seconds for one request that names no timeout.")
    max_timeout: Seconds = Field(default=600.0, description="The longest timeout a request may name, in seconds.")

    max_running_samples: Count = Field(default=256, description="Samples the engine works on at once; others wait.")
    max_running_tokens: Count = Field(default=1 << 20, description="Tokens these may read and write, all together.")
    max_queued_samples: Natural = Field(default=1024, description="Samples that may wait; past it comes a 429.")
    max_queued_tokens: Natural = Field(default=1 << 22, description="Tokens these may read and write, all together.")

    keep_alive: Seconds = Field(default=10.0, description="Seconds of silence before a stream gets a comment line.")
    idle_timeout: Count = Field(
        default=75, description="Seconds an idle connection stays open; a proxy in front is to give it up before that."
    )
    shutdown_timeout: Count = Field(default=30, description="Seconds for requests in flight when the server stops.")
    log_format: Literal["json", "text"] = Field(default="json", description="One JSON object a line, or plain text.")
    log_text: bool = Field(default=False, description="Log questions, and the answers that callers were given.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="What gets logged.")

    feedback: bool = Field(
        default=False, description="Keep what was answered, so that people can grade it; see /v1/feedback and /grade."
    )
    feedback_db: str | None = Field(
        default=None,
        description="Where: a file of SQLite or a URL of SQLAlchemy; by default a file in the user's data folder.",
    )
    store_text: Literal["none", "audited", "all"] = Field(
        default="audited", description="Which questions and answers are kept: those drawn to be graded, all, or none."
    )
    keep_days: float = Field(default=90.0, gt=0, le=36_500, description="Days after which a kept answer is deleted.")
    audit_share: Probability = Field(default=0.05, description="Share of all answers that is drawn to be audited.")
    learn_share: Probability = Field(
        default=0.05, description="Share of the least sure of the others that is drawn to learn from."
    )
    planned_audits: Count = Field(
        default=500, description="How many audits are to be graded before thresholds are certified on them."
    )
    drift_max_error: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="Error rate among audited answers, at the risk threshold, above which there is drift; by default 1 "
        "minus that threshold.",
    )
    drift_refuses: bool = Field(
        default=False, description="Refuse max_error under a calibrator from the moment that drift is reported."
    )
    drift_alpha: float = Field(default=0.05, gt=0, lt=1, description="Chance that drift is ever reported without any.")

    judge_audits: bool = Field(
        default=False, description="Let a judge model's verdicts settle audits, and with them promises and drift."
    )
    drift_slack: float = Field(
        default=0.05, ge=0, lt=1, description="How much too high calibrated confidences may be before that is drift."
    )

    otlp_endpoint: str | None = Field(
        default=None, description="Where traces go, OTLP over HTTP, such as http://collector:4318/v1/traces."
    )

    @field_validator("upstreams", mode="before")
    @classmethod
    def _from_text(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        if not given.lstrip().startswith("["):
            return [url.strip() for url in given.split(",")]
        try:
            return json.loads(given)
        except RecursionError:
            raise ValueError("the JSON is nested too deeply") from None

    @field_validator("confidence_source")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        from demur.answering.confidence import SOURCES  # which is made of what these settings describe

        if name is not None and name not in SOURCES:
            raise ValueError(f"{name!r} is not one of {', '.join(map(repr, SOURCES))}")
        return name

    @field_validator("labels", mode="before")
    @classmethod
    def _read(cls, given: object) -> object:
        return read_labels(Path(given)) if isinstance(given, (str, Path)) else given

    @field_validator("calibrators", mode="before")
    @classmethod
    def _paths(cls, given: object) -> object:
        return [path.strip() for path in given.split(",") if path.strip()] if isinstance(given, str) else given

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _names(cls, given: object) -> object:
        names = given.split(",") if isinstance(given, str) else given
        return [str(name).strip().lower() for name in names] if isinstance(names, (list, tuple)) else names

    @field_validator("cors_origins", mode="before")
    @classmethod
    def _origins(cls, given: object) -> object:
        named = given.split(",") if isinstance(given, str) else given
        return [str(origin).strip().rstrip("/") for origin in named] if isinstance(named, (list, tuple)) else named

    @field_validator("cors_origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if origin != "*" and not re.fullmatch(r"https?://[^/@\s]+", origin):
                raise ValueError(f"{origin!r:.100} is no origin such as https://app.example.org")
        return origins

    @property
    def keeps_answers(self) -> bool:
        """Whether answers are kept to be graded."""
        return self.feedback or self.feedback_db is not None

    @property
    def withheld_allowed(self) -> bool:
        if self.allow_withheld is not None:
            return self.allow_withheld
        return is_loopback(self.host) and not self.min_risk_threshold

    @property
    def guarded(self) -> bool:
        """Whether callers need a key."""
        return self.keys_file is not None or self.keys is not None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
