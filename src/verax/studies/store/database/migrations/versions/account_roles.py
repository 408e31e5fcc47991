"""Accounts have a role in each study, and may have a second factor."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds the table and columns; who could do everything before is the owner of every study that is there."""
    op.add_column("experimenter", sa.Column("second_factor", sa.String(64)))
    op.add_column("experimenter", sa.Column("last_code", sa.BigInteger))
    op.create_table(
        "role",
        sa.Column("id", Number, primary_key=True),
        sa.Column("experimenter_id", Number, sa.ForeignKey("experimenter.id"), nullable=False),
        sa.Column("study_id", Number, sa.ForeignKey("study.id"), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.UniqueConstraint("experimenter_id", "study_id"),
    )
    op.execute(
        "INSERT INTO role (experimenter_id, study_id, role) "
        "SELECT experimenter.id, study.id, 'owner' FROM experimenter CROSS JOIN study"
    )
