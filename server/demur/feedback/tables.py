"""The tables. Migrations make them; a test compares the two."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    false,
)

from demur.core.calibration.drift import PRIOR

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(column_0_label)s",
    }
)
_Serial = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only in a column of type INTEGER."""

epochs = Table(
    "epochs",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("started", Float, nullable=False),
    Column("audit_share", Float, nullable=False),
    Column("learn_share", Float, nullable=False),
    Column("model", String(512), nullable=False),
    Column("fingerprint", String(64), nullable=False),
)
"""Times in which the shares and the model stayed as they were."""

answers = Table(
    "answers",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("epoch", ForeignKey("epochs.id"), nullable=False),
    Column("created", Float, nullable=False, index=True),
    Column("caller", String(16), nullable=False),
    Column("problem", String(40), nullable=False),
    Column("risk_threshold", Float, nullable=False),
    Column("decision", String(16), nullable=False),
    Column("reason", String(64), nullable=True),
    Column("max_error", Float, nullable=True),
    Column("confidence", Float, nullable=True),
    Column("confidence_source", String(64), nullable=False),
    Column("calibrator", String(64), nullable=True),
    Column("promise_error", Float, nullable=False),
    Column("promise_threshold", Float, nullable=False),
    Column("drift_claim", Integer, nullable=True),
    Column("drift_confidence", Float, nullable=True),
    Column("signals", JSON, nullable=False),
    Column("conditions", JSON, nullable=False),
    Column("samples", Integer, nullable=False),
    Column("claims", JSON, nullable=False),
    Column("queue", String(8), nullable=True),
    Column("probability", Float, nullable=False),
    Column("rank", Float, nullable=False),
    Column("state", String(8), nullable=False),
    Column("correct", Boolean, nullable=True),
    Column("judged", Boolean, nullable=False, default=False, server_default=false()),
    Column("skips", Integer, nullable=False, default=0),
    Column("lease", String(40), nullable=True),
    Column("leased_by", String(16), nullable=True),
    Column("leased_until", Float, nullable=True),
    Column("gold", Text, nullable=True),
    Column("messages", JSON, nullable=True),
    Column("answer", Text, nullable=True),
    Column("text", Text, nullable=True),
)
"""One row an answer. `problem` is the same for the same question. `max_error` is the certified error rate that it was
decided under, where the caller asked for one. Where claims are decided on, drift looks at one of them, `drift_claim`,
which states `drift_confidence`. `conditions` are what it was drawn under,
`claims` [[text or null, confidence], ...].
`state` is open, graded or skipped (for good), in the queue it was drawn into; `correct` is the verdict there, as last
corrected, `judged` where a model gave it. `lease` stays after a verdict, so that whoever gave it can take it back."""

Index("ix_answers_queue", answers.c.queue, answers.c.state, answers.c.skips, answers.c.rank)

grades = Table(
    "grades",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("answer_id", ForeignKey("answers.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("claim", Integer, nullable=True),
    Column("sample", Integer, nullable=True),
    Column("verdict", String(8), nullable=False),
    Column("source", String(12), nullable=False),
    Column("grader", String(16), nullable=False),
    Column("at", Float, nullable=False),
)
"""Every verdict ever given, corrections included: the last one of a grader about one thing holds. `verdict` is right,
wrong, undone or skipped; `source` is audit, learn, volunteered, gold or judge."""

drift = Table(
    "drift",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("max_error", Float, primary_key=True),
    Column("threshold", Float, primary_key=True),
    Column("count", Integer, nullable=False),
    Column("wrong", Integer, nullable=False),
    Column("wealth", Float, nullable=False),
    Column("weight", Float, nullable=False),
    Column("errors", Float, nullable=False),
    Column("calibrated", Boolean, nullable=False, server_default=false()),
    Column("stated", Integer, nullable=False, server_default="0"),
    Column("stated_wealth", Float, nullable=False, server_default="0"),
    Column("stated_weight", Float, nullable=False, server_default=str(PRIOR)),
    Column("stated_excess", Float, nullable=False, server_default="0"),
    Column("peak", Float, nullable=False),
    Column("alpha", Float, nullable=False),
    Column("alarm_at", Float, nullable=True),
    Column("updated", Float, nullable=False),
)
"""The state of each drift test: all there is of it, so that neither deletions nor corrections rewrite the past. Where
the probabilities are those of a calibrator, `calibrated`, they are tested as well, by the process from `stated` on."""

tested = Table(
    "tested",
    metadata,
    Column("answer_id", String(40), primary_key=True),
)
"""Audits whose first verdict a drift test has had."""

shadows = Table(
    "shadows",
    metadata,
    Column("answer_id", ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True),
    Column("calibrator", String(64), primary_key=True),
    Column("claim", Integer, primary_key=True, autoincrement=False),
    Column("served", String(64), nullable=False),
    Column("confidence", Float, nullable=True),
    Column("old", Boolean, nullable=False),
    Column("new", Boolean, nullable=False),
)
"""What another calibrator says of an answer or, from 0, of a claim of it: whether the served one gave it (`old`) and
whether that one would have (`new`)."""

refits = Table(
    "refits",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("at", Float, nullable=False),
    Column("by", String(16), nullable=False),
    Column("since", Float, nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("audits", Integer, nullable=False),
    Column("learned", Integer, nullable=False),
    Column("look", Integer, nullable=False),
    Column("level", String(8), nullable=False, server_default="response"),
)
"""Every time somebody took the graded rows to make a calibrator of them."""
