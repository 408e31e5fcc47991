"""The tables of a study's database. Times are microseconds since 1970 in UTC.

One database may hold several studies. No answer is overwritten: a response belongs to exactly one step, and what a
participant sent in vain is kept as an event, up to a limit. Nothing is deleted but at the wish of its participant, or
when the time of its keeping is over.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

metadata = MetaData(naming_convention=NAMING)

# SQLite counts up by itself only in a column of type INTEGER.
Number = BigInteger().with_variant(Integer(), "sqlite")

studies = Table(
    "study",
    metadata,
    Column("id", Number, primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("title", String, nullable=False, unique=True),
    Column("secret", String(64), nullable=False),  # tokens of those who enter by code are made from it
    Column("state", String(16), nullable=False),  # open, paused, closed
    Column(
        "consented", Integer, nullable=False
    ),  # how many so far: the next participant's number is one more
    Column("created_at", BigInteger, nullable=False),
    # Once the study has moved: the URL of the database in which it goes on. In the new database, until the move is
    # over: the URL of the old one.
    Column("moved_to", String),
    Column("judged_at", BigInteger),  # when the exclusion rules were last applied
    Column("event_bytes", BigInteger, nullable=False, server_default="0"),  # of all that was sent in vain
    Column("checked_at", BigInteger),  # when the server last made sure that it can write
)

participants = Table(
    "participant",
    metadata,
    Column("id", Number, primary_key=True),
    Column("study_id", Number, ForeignKey("study.id"), nullable=False),
    Column("token_hash", String(64), nullable=False, unique=True),
    # invited, declined, full, active, complete, screened-out, over-quota, withdrawn
    Column("status", String(16), nullable=False),
    Column("is_bot", Boolean, nullable=False),
    Column("number", Integer),  # by arrival, from 1; given with the consent, as all below
    Column("design_row", Integer),
    Column("names", JSON),  # what the classes are called on this participant's pages
    Column("answer_order", Integer),  # in which order answers stand there; see verax.studies.design
    Column("phases", Integer, nullable=False),
    Column("steps", Integer, nullable=False),
    Column("current", Integer, nullable=False),  # the ord of the step that is due
    Column("hold_until", BigInteger),
    Column("version", String(40), nullable=False),  # of Verax
    Column("created_at", BigInteger, nullable=False),
    Column("consented_at", BigInteger),
    Column("last_seen_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    Column("completion_code", String(32)),
    Column("platform", String(16), nullable=False, server_default="link"),  # link, code, prolific, mturk
    Column(
        "person_hash", String(64)
    ),  # keyed, of the platform's id of the person; the id itself is not stored
    Column("return_to", JSON),  # what the platform must be told at the end, as MTurk's assignment
    # keyed, of the platform's session or assignment with which the person came; no other one opens their place
    Column("session_hash", String(64)),
    # keyed, the same in other studies with the same key, of who agreed to be known again there
    Column("link_hash", String(64)),
    # How much of what was sent in vain is kept as events, and how often something was only counted.
    Column("events", Integer, nullable=False, server_default="0"),
    Column("event_bytes", Integer, nullable=False, server_default="0"),
    Column("unkept", Integer, nullable=False, server_default="0"),
    # Keyed hashes of the address and the network from which somebody came, until their first answer.
    Column("origin", String(64)),
    Column("subnet", String(64)),
    Column("language", String(16)),  # of the pages, where the study is in several
    UniqueConstraint("study_id", "number"),
    Index(None, "study_id", "person_hash", unique=True),
    UniqueConstraint("study_id", "completion_code"),
    # For the allocation. The time of the hold stays out, or each submission would have to write the index too.
    Index(None, "study_id", "is_bot", "status", "design_row", "answer_order"),
)

consents = Table(
    "consent",
    metadata,
    Column("id", Number, primary_key=True),
    Column("participant_id", Number, ForeignKey("participant.id"), nullable=False, index=True),
    Column("agreed", Boolean, nullable=False),
    Column("text_sha256", String(64), nullable=False),  # of what was agreed to
    Column("at", BigInteger, nullable=False),
)

steps = Table(
    "step",
    metadata,
    Column("id", Number, primary_key=True),
    Column("participant_id", Number, ForeignKey("participant.id"), nullable=False),
    Column("ord", Integer, nullable=False),  # from 1
    Column("phase", String, nullable=False),
    Column("screen", String, nullable=False),
    Column("item", String),
    Column("condition", String),
    Column("phase_number", Integer, nullable=False),
    Column("number_in_phase", Integer, nullable=False),
    Column("steps_in_phase", Integer, nullable=False),
    Column("nonce", String(32), nullable=False),
    # pending, open, closed (answered), expired (its time was over), skipped (a later try at the screening test)
    Column("state", String(16), nullable=False),
    Column("opened_at", BigInteger),
    Column("deadline_at", BigInteger),
    Column("closed_at", BigInteger),
    Column("views", Integer, nullable=False),
    UniqueConstraint("participant_id", "ord"),
)

responses = Table(
    "response",
    metadata,
    Column("step_id", Number, ForeignKey("step.id"), primary_key=True, autoincrement=False),
    Column("answers", JSON, nullable=False),  # by question: what the answer means
    Column("positions", JSON, nullable=False),  # by question: where the chosen option stood, from 1
    Column("received_at", BigInteger, nullable=False),
    Column("late", Boolean, nullable=False),
    Column("client", JSON, nullable=False),  # the browser's own times
)

events = Table(
    "event",
    metadata,
    Column("id", Number, primary_key=True),
    Column("participant_id", Number, ForeignKey("participant.id"), nullable=False, index=True),
    Column("ord", Integer),  # the step that was due
    Column("type", String(40), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("data", JSON, nullable=False),
)

codes = Table(
    "code",
    metadata,
    Column("code", String(32), primary_key=True),
    Column("study_id", Number, ForeignKey("study.id"), nullable=False, index=True),
    Column("participant_id", Number, ForeignKey("participant.id"), unique=True),
    Column("created_at", BigInteger, nullable=False),
)

exclusions = Table(
    "exclusion",
    metadata,
    Column("id", Number, primary_key=True),
    Column("participant_id", Number, ForeignKey("participant.id"), nullable=False),
    Column("rule", String(40), nullable=False),  # as declared in the spec; nobody is deleted by it
    Column("evidence", JSON, nullable=False),  # the rule's limit, what was measured, and on how many answers
    Column("at", BigInteger, nullable=False),
    Column("lifted_at", BigInteger),  # it no longer holds: who had left came back
    UniqueConstraint("participant_id", "rule"),
)

experimenters = Table(
    "experimenter",
    metadata,
    Column("id", Number, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("password_hash", String, nullable=False),  # argon2
    Column("created_at", BigInteger, nullable=False),
    Column("second_factor", String(64)),  # the secret of one-time codes (base32), if the account has them
    Column("last_code", BigInteger),  # the half minute whose code was used last: each is good once
    # With the right password, since somebody last signed in: after some of them one code is not enough.
    Column("wrong_codes", Integer, nullable=False, server_default="0"),
)

# What an account may do in a study; without a role it does not exist there.
roles = Table(
    "role",
    metadata,
    Column("id", Number, primary_key=True),
    Column("experimenter_id", Number, ForeignKey("experimenter.id"), nullable=False),
    Column("study_id", Number, ForeignKey("study.id"), nullable=False),
    Column("role", String(16), nullable=False),  # owner, helper, reader
    UniqueConstraint("experimenter_id", "study_id"),
)

sessions = Table(
    "session",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    Column("experimenter_id", Number, ForeignKey("experimenter.id"), nullable=False, index=True),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
)

# What was done to the study and by whom: pausing, closing, exporting, deleting.
actions = Table(
    "action",
    metadata,
    Column("id", Number, primary_key=True),
    Column("study_id", Number, ForeignKey("study.id"), nullable=False, index=True),
    Column("by", String(64), nullable=False),  # an experimenter's name, or "command line", or "participant"
    Column("type", String(40), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("data", JSON, nullable=False),
)

# How often somebody may try something, over all processes; see verax.studies.store.buckets.
buckets = Table(
    "bucket",
    metadata,
    Column("key", String(64), primary_key=True),  # keyed hash of who tries, and what
    Column("full_at", BigInteger, nullable=False),
)
