"""Where the answers live: participants, their steps and their responses, in SQLite or PostgreSQL."""

from verax.studies.store.clock import utc_now
from verax.studies.store.identifiers import link_key, platform_key
from verax.studies.store.participant.participant_view import ParticipantView, Refused, Submitted
from verax.studies.store.store import Store, open_store

__all__ = [
    "ParticipantView",
    "Refused",
    "Store",
    "Submitted",
    "link_key",
    "open_store",
    "platform_key",
    "utc_now",
]
