"""What another calibrator would have decided; the error rate that an answer was given under."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    with op.batch_alter_table("answers") as answers:
        answers.add_column(sa.Column("max_error", sa.Float))
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
