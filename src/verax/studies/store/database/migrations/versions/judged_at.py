"""When a study's exclusion rules were last applied."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column."""
    op.add_column("study", sa.Column("judged_at", sa.BigInteger))
