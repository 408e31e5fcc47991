"""Where the answers live: participants, their steps and their responses, in SQLite or PostgreSQL."""

from verax.studies.store.clock import utc_now
from verax.studies.store.keys import platform_key
from verax.studies.store.store import Store, open_store
from verax.studies.store.where import Refused, Submitted, Where

__all__ = ["Refused", "Store", "Submitted", "Where", "open_store", "platform_key", "utc_now"]
