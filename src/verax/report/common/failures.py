"""What failed in a benchmark, in sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from verax.benchmarks.failure import Failure
from verax.text import counted

MOST_NAMED = 3


def failed_jobs(failures: Iterable[Failure], job: str) -> list[str]:
    """One sentence for each reason why jobs failed, with the jobs; ``job`` is what one of them is called."""
    names: dict[str, list[str]] = defaultdict(list)
    for failure in failures:
        names[failure.error.removeprefix("VeraxError: ").rstrip(".")].append(failure.job)
    # A job's name has commas of its own, so that others between the names would say nothing.
    return [
        f"{counted(len(jobs), job)} failed ({'; '.join(jobs[:MOST_NAMED])}{_rest(jobs)}): {reason}."
        for reason, jobs in names.items()
    ]


def _rest(jobs: Sequence[str]) -> str:
    return f"; and {len(jobs) - MOST_NAMED:,} more" if len(jobs) > MOST_NAMED else ""
