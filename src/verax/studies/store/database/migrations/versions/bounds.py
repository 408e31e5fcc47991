"""Bounds on what strangers can have stored, the session that a platform's person came with, and the health check."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the columns; what was kept before is not counted."""
    op.add_column("study", sa.Column("event_bytes", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("study", sa.Column("checked_at", sa.BigInteger))
    op.add_column("participant", sa.Column("session_hash", sa.String(64)))
    for name in ("events", "event_bytes", "unkept"):
        op.add_column("participant", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
