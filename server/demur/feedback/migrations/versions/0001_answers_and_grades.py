"""Answers, grades, drift tests and refits."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "epochs",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("started", sa.Float, nullable=False),
        sa.Column("audit_share", sa.Float, nullable=False),
        sa.Column("learn_share", sa.Float, nullable=False),
        sa.Column("model", sa.String(512), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_epochs"),
    )
    op.create_table("answers", *_answer_columns())
    op.create_index("ix_answers_created", "answers", ["created"])
    op.create_index("ix_answers_queue", "answers", ["queue", "state", "skips", "rank"])
    op.create_table(
        "grades",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("answer_id", sa.String(40), nullable=False),
        sa.Column("claim", sa.Integer),
        sa.Column("sample", sa.Integer),
        sa.Column("verdict", sa.String(8), nullable=False),
        sa.Column("source", sa.String(12), nullable=False),
        sa.Column("grader", sa.String(16), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_grades"),
        sa.ForeignKeyConstraint(["answer_id"], ["answers.id"], name="fk_grades_answer_id", ondelete="CASCADE"),
    )
    op.create_index("ix_grades_answer_id", "grades", ["answer_id"])
    op.create_table(
        "drift",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("max_error", sa.Float, nullable=False),
        sa.Column("threshold", sa.Float, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("wrong", sa.Integer, nullable=False),
        sa.Column("wealth", sa.Float, nullable=False),
        sa.Column("weight", sa.Float, nullable=False),
        sa.Column("errors", sa.Float, nullable=False),
        sa.Column("peak", sa.Float, nullable=False),
        sa.Column("alpha", sa.Float, nullable=False),
        sa.Column("alarm_at", sa.Float),
        sa.Column("updated", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("name", "max_error", "threshold", name="pk_drift"),
    )
    op.create_table(
        "tested",
        sa.Column("answer_id", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("answer_id", name="pk_tested"),
    )
    op.create_table(
        "refits",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("by", sa.String(16), nullable=False),
        sa.Column("since", sa.Float, nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("audits", sa.Integer, nullable=False),
        sa.Column("learned", sa.Integer, nullable=False),
        sa.Column("look", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_refits"),
    )


def _answer_columns() -> list[sa.Column | sa.PrimaryKeyConstraint | sa.ForeignKeyConstraint]:
    return [
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("epoch", _SERIAL, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("caller", sa.String(16), nullable=False),
        sa.Column("problem", sa.String(40), nullable=False),
        sa.Column("risk_threshold", sa.Float, nullable=False),
        sa.Column("decision", sa.String(16), nullable=False),
        sa.Column("reason", sa.String(64)),
        sa.Column("confidence", sa.Float),
        sa.Column("confidence_source", sa.String(64), nullable=False),
        sa.Column("calibrator", sa.String(64)),
        sa.Column("promise_error", sa.Float, nullable=False),
        sa.Column("promise_threshold", sa.Float, nullable=False),
        sa.Column("signals", sa.JSON, nullable=False),
        sa.Column("conditions", sa.JSON, nullable=False),
        sa.Column("samples", sa.Integer, nullable=False),
        sa.Column("claims", sa.JSON, nullable=False),
        sa.Column("queue", sa.String(8)),
        sa.Column("probability", sa.Float, nullable=False),
        sa.Column("rank", sa.Float, nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("correct", sa.Boolean),
        sa.Column("skips", sa.Integer, nullable=False),
        sa.Column("lease", sa.String(40)),
        sa.Column("leased_by", sa.String(16)),
        sa.Column("leased_until", sa.Float),
        sa.Column("gold", sa.Text),
        sa.Column("messages", sa.JSON),
        sa.Column("answer", sa.Text),
        sa.Column("text", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_answers"),
        sa.ForeignKeyConstraint(["epoch"], ["epochs.id"], name="fk_answers_epoch"),
    ]
