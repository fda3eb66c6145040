"""What another calibrator would have decided; claims in refits and drift tests; tests of stated probabilities."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    with op.batch_alter_table("answers") as answers:
        answers.add_column(sa.Column("max_error", sa.Float))
        answers.add_column(sa.Column("judged", sa.Boolean, nullable=False, server_default=sa.false()))
        answers.add_column(sa.Column("drift_claim", sa.Integer))
        answers.add_column(sa.Column("drift_confidence", sa.Float))
    with op.batch_alter_table("drift") as drift:
        drift.add_column(sa.Column("calibrated", sa.Boolean, nullable=False, server_default=sa.false()))
        drift.add_column(sa.Column("stated", sa.Integer, nullable=False, server_default="0"))
        drift.add_column(sa.Column("stated_wealth", sa.Float, nullable=False, server_default="0"))
        drift.add_column(sa.Column("stated_weight", sa.Float, nullable=False, server_default="10.0"))
        drift.add_column(sa.Column("stated_excess", sa.Float, nullable=False, server_default="0"))
    with op.batch_alter_table("refits") as refits:
        refits.add_column(sa.Column("level", sa.String(8), nullable=False, server_default="response"))
    op.create_table(
        "shadows",
        sa.Column("answer_id", sa.String(40), nullable=False),
        sa.Column("calibrator", sa.String(64), nullable=False),
        sa.Column("claim", sa.Integer, nullable=False),
        sa.Column("served", sa.String(64), nullable=False),
        sa.Column("confidence", sa.Float),
        sa.Column("old", sa.Boolean, nullable=False),
        sa.Column("new", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("answer_id", "calibrator", "claim", name="pk_shadows"),
        sa.ForeignKeyConstraint(["answer_id"], ["answers.id"], name="fk_shadows_answer_id", ondelete="CASCADE"),
    )
