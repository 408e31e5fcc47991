"""Where somebody came from, as a keyed hash until they have given an answer, and when they did."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the columns; of who came before nothing is known."""
    op.add_column("participant", sa.Column("origin", sa.String(64)))
    op.add_column("participant", sa.Column("subnet", sa.String(64)))
