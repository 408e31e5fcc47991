"""What failed in a benchmark, in sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from verax.benchmarks.failure import Failure
from verax.text import counted, listed


def failed_jobs(failures: Iterable[Failure], job: str) -> list[str]:
    """One sentence for each reason why jobs failed, with the jobs; ``job`` is what one of them is called."""
    names: dict[str, list[str]] = defaultdict(list)
    for failure in failures:
        names[failure.error.removeprefix("VeraxError: ").rstrip(".")].append(failure.job)
    return [
        f"{counted(len(jobs), job)} failed ({listed(jobs, most=3)}): {reason}."
        for reason, jobs in names.items()
    ]
