"""The tables as they were when Verax was first released; later changes are files of their own beside this one."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = None
branch_labels = None
depends_on = None

Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Makes the tables."""
    op.create_table(
        "study",
        sa.Column("id", Number, primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False, unique=True),
        sa.Column("title", sa.String, nullable=False, unique=True),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("consented", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("moved_to", sa.String),
        sa.Column("judged_at", sa.BigInteger),
        sa.Column("event_bytes", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("checked_at", sa.BigInteger),
    )
    op.create_table(
        "participant",
        sa.Column("id", Number, primary_key=True),
        sa.Column("study_id", Number, sa.ForeignKey("study.id"), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("is_bot", sa.Boolean, nullable=False),
        sa.Column("number", sa.Integer),
        sa.Column("design_row", sa.Integer),
        sa.Column("names", sa.JSON),
        sa.Column("answer_order", sa.Integer),
        sa.Column("phases", sa.Integer, nullable=False),
        sa.Column("steps", sa.Integer, nullable=False),
        sa.Column("current", sa.Integer, nullable=False),
        sa.Column("hold_until", sa.BigInteger),
        sa.Column("version", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("consented_at", sa.BigInteger),
        sa.Column("last_seen_at", sa.BigInteger, nullable=False),
        sa.Column("finished_at", sa.BigInteger),
        sa.Column("completion_code", sa.String(32)),
        sa.Column("platform", sa.String(16), nullable=False, server_default="link"),
        sa.Column("person_hash", sa.String(64)),
        sa.Column("return_to", sa.JSON),
        sa.Column("session_hash", sa.String(64)),
        sa.Column("link_hash", sa.String(64)),
        sa.Column("events", sa.Integer, nullable=False, server_default="0"),
        sa.Column("event_bytes", sa.Integer, nullable=False, server_default="0"),
        sa.Column("unkept", sa.Integer, nullable=False, server_default="0"),
        sa.Column("origin", sa.String(64)),
        sa.Column("subnet", sa.String(64)),
        sa.Column("language", sa.String(16)),
        sa.UniqueConstraint("study_id", "number"),
        sa.Index(None, "study_id", "person_hash", unique=True),
        sa.UniqueConstraint("study_id", "completion_code"),
        sa.Index(None, "study_id", "is_bot", "status", "design_row", "answer_order"),
    )
    op.create_table(
        "consent",
        sa.Column("id", Number, primary_key=True),
        sa.Column("participant_id", Number, sa.ForeignKey("participant.id"), nullable=False, index=True),
        sa.Column("agreed", sa.Boolean, nullable=False),
        sa.Column("text_sha256", sa.String(64), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "step",
        sa.Column("id", Number, primary_key=True),
        sa.Column("participant_id", Number, sa.ForeignKey("participant.id"), nullable=False),
        sa.Column("ord", sa.Integer, nullable=False),
        sa.Column("phase", sa.String, nullable=False),
        sa.Column("screen", sa.String, nullable=False),
        sa.Column("item", sa.String),
        sa.Column("condition", sa.String),
        sa.Column("phase_number", sa.Integer, nullable=False),
        sa.Column("number_in_phase", sa.Integer, nullable=False),
        sa.Column("steps_in_phase", sa.Integer, nullable=False),
        sa.Column("nonce", sa.String(32), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("opened_at", sa.BigInteger),
        sa.Column("deadline_at", sa.BigInteger),
        sa.Column("closed_at", sa.BigInteger),
        sa.Column("views", sa.Integer, nullable=False),
        sa.UniqueConstraint("participant_id", "ord"),
    )
    op.create_table(
        "response",
        sa.Column("step_id", Number, sa.ForeignKey("step.id"), primary_key=True, autoincrement=False),
        sa.Column("answers", sa.JSON, nullable=False),
        sa.Column("positions", sa.JSON, nullable=False),
        sa.Column("received_at", sa.BigInteger, nullable=False),
        sa.Column("late", sa.Boolean, nullable=False),
        sa.Column("client", sa.JSON, nullable=False),
    )
    op.create_table(
        "event",
        sa.Column("id", Number, primary_key=True),
        sa.Column("participant_id", Number, sa.ForeignKey("participant.id"), nullable=False, index=True),
        sa.Column("ord", sa.Integer),
        sa.Column("type", sa.String(40), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
    )
    op.create_table(
        "code",
        sa.Column("code", sa.String(32), primary_key=True),
        sa.Column("study_id", Number, sa.ForeignKey("study.id"), nullable=False, index=True),
        sa.Column("participant_id", Number, sa.ForeignKey("participant.id"), unique=True),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
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
        sa.Column("second_factor", sa.String(64)),
        sa.Column("last_code", sa.BigInteger),
        sa.Column("wrong_codes", sa.Integer, nullable=False, server_default="0"),
    )
    op.create_table(
        "role",
        sa.Column("id", Number, primary_key=True),
        sa.Column("experimenter_id", Number, sa.ForeignKey("experimenter.id"), nullable=False),
        sa.Column("study_id", Number, sa.ForeignKey("study.id"), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.UniqueConstraint("experimenter_id", "study_id"),
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
        sa.Column(
            "by", sa.String(64), nullable=False
        ),  # an experimenter's name, or "command line", or "participant"
        sa.Column("type", sa.String(40), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
    )
    op.create_table(
        "bucket",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("full_at", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """Drops the tables and all answers in them."""
    for table in (
        "bucket",
        "action",
        "session",
        "role",
        "experimenter",
        "exclusion",
        "code",
        "event",
        "response",
        "step",
        "consent",
        "participant",
        "study",
    ):
        op.drop_table(table)
