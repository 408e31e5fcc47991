"""What failed in a benchmark, as its summary tells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    """A job that failed."""

    job: str
    error: str
