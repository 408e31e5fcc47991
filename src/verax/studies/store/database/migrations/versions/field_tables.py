"""Studies in the field: where people come from, exclusions, experimenters and what they did."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds the columns and tables."""
    op.add_column("study", sa.Column("moved_to", sa.String))
    # SQLite adds no constraint to a table that is there, so the unique pair is an index in both databases.
    op.add_column("participant", sa.Column("platform", sa.String(16), nullable=False, server_default="link"))
    op.add_column("participant", sa.Column("person_hash", sa.String(64)))
    op.add_column("participant", sa.Column("return_to", sa.JSON))
    op.create_index(None, "participant", ["study_id", "person_hash"], unique=True)
    op.create_table(
        "exclusion",
        sa.Column("id", Number, primary_key=True),
        sa.Column("participant_id", Number, sa.ForeignKey("participant.id"), nullable=False),
        sa.Column("rule", sa.String(40), nullable=False),
        sa.Column("evidence", sa.JSON, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("lifted_at", sa.BigInteger),
        sa.UniqueConstraint("participant_id", "rule"),
    )
    op.create_table(
        "experimenter",
        sa.Column("id", Number, primary_key=True),
        sa.Column("name", sa.String(64), nullable=False, unique=True),
        sa.Column("password_hash", sa.String, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "session",
        sa.Column("token_hash", sa.String(64), primary_key=True),
        sa.Column("experimenter_id", Number, sa.ForeignKey("experimenter.id"), nullable=False, index=True),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "action",
        sa.Column("id", Number, primary_key=True),
        sa.Column("study_id", Number, sa.ForeignKey("study.id"), nullable=False, index=True),
        sa.Column("by", sa.String(64), nullable=False),
        sa.Column("type", sa.String(40), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
    )
