"""By what people who agreed to it are known again in other studies of the same research."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column."""
    op.add_column("participant", sa.Column("link_hash", sa.String(64)))
