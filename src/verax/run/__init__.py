"""Doing many jobs: pure functions with content-hash keys, stored as they finish, here or on a cluster."""

from verax.run.canonical import canonical, write_json
from verax.run.execute import execute
from verax.run.jobs import Job, Outcome, Store
from verax.run.manifest import check_manifest, finish_manifest, library_versions, start_manifest
from verax.run.progress import Progress, terminal_progress

__all__ = [
    "Job",
    "Outcome",
    "Progress",
    "Store",
    "canonical",
    "check_manifest",
    "execute",
    "finish_manifest",
    "library_versions",
    "start_manifest",
    "terminal_progress",
    "write_json",
]
