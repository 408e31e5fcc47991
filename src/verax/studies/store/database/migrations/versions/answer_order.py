"""In which order answers stand on a participant's pages; who came before sees them as they were built."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

COLUMNS = ["study_id", "is_bot", "status", "design_row"]


def upgrade() -> None:
    """Adds the column, and the index by which places are counted has it too."""
    op.add_column("participant", sa.Column("answer_order", sa.Integer))
    op.drop_index(f"ix_participant_{'_'.join(COLUMNS)}", "participant")
    wider = [*COLUMNS, "answer_order"]
    op.create_index(f"ix_participant_{'_'.join(wider)}", "participant", wider)
