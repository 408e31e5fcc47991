"""Limits that all processes share, and how many wrong codes of its second factor an account was sent."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the table and the column."""
    op.create_table(
        "bucket",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("full_at", sa.BigInteger, nullable=False),
    )
    op.add_column("experimenter", sa.Column("wrong_codes", sa.Integer, nullable=False, server_default="0"))
