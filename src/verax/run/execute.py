"""Executing jobs: what is stored is not done again, what finishes is stored at once."""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from verax.errors import VeraxError
from verax.run.jobs import Job, Outcome
from verax.run.objects import at_hand, pack
from verax.run.progress import Progress, Silent
from verax.run.store import Store

logger = logging.getLogger(__name__)


def execute(
    jobs: Sequence[Job],
    store: Store,
    *,
    workers: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
    objects: Mapping[str, object] | None = None,
) -> list[Outcome]:
    """The outcomes of the jobs, in their order; equal jobs are done once, stored ones not again.

    A job that fails has an outcome with an error and stops nothing. When the run itself is stopped (Ctrl-C, kill,
    a full disk), the same call goes on where it stopped. Values do not depend on where the jobs are done.

    Args:
        jobs: What to do; they may not depend on each other.
        store: Where outcomes are looked up and kept.
        workers: 1 does the jobs in this process, more starts that many processes.
        cluster: The address of a Dask scheduler, whose workers then do the jobs.
        progress: Told of each outcome, see `verax.run.terminal_progress`.
        retry_failed: Do the stored jobs that failed again.
        fresh: Do all jobs again.
        objects: What the jobs' arguments refer to, see `verax.run.objects`. They are sent to other processes; if one
            cannot be, all jobs are done in this one.
    """
    if workers < 1:
        raise VeraxError(f"The number of jobs at a time is {workers}; it must be 1 or more.")
    distinct = {job.key: job for job in jobs}
    progress = progress or Silent()
    with store.lock():
        outcomes = {key: outcome for key in distinct if (outcome := store.get(key)) is not None}
        if fresh:
            outcomes = {}
        if retry_failed:
            outcomes = {key: outcome for key, outcome in outcomes.items() if not outcome.failed}
        waiting = [job for key, job in distinct.items() if key not in outcomes]
        try:
            progress.start(len(distinct), list(outcomes.values()))
            _say_stored_failures(list(outcomes.values()))
            if waiting:
                # Closing ends the workers, whatever it is that stops the loop.
                with closing(_finishing(waiting, workers, cluster, objects or {})) as finishing:
                    for outcome in finishing:
                        store.put(outcome)
                        outcomes[outcome.key] = outcome
                        progress.advance(outcome)
        finally:
            progress.stop()
    return [replace(outcomes[job.key], name=job.name) for job in jobs]


def _say_stored_failures(stored: Sequence[Outcome]) -> None:
    """Warns that failures of an earlier run stand as they were: their reason may have gone since."""
    failed = [outcome for outcome in stored if outcome.failed]
    if failed:
        logger.warning(
            "%d of %d stored jobs failed in an earlier run and %s not done again (%s: %s); --retry-failed does.",
            len(failed), len(stored), "was" if len(failed) == 1 else "were", failed[0].name, failed[0].error,
        )  # fmt: skip


def _finishing(
    jobs: Sequence[Job], workers: int, cluster: str | None, objects: Mapping[str, object]
) -> Generator[Outcome, None, None]:
    """The outcomes as they finish, from the place that the caller chose."""
    packed = pack(objects) if cluster is not None or workers > 1 else {}
    if packed is None:
        logger.warning("The objects of this run cannot be sent to other processes, so it runs in this one.")
    elif cluster is not None:
        from verax.run.cluster import on_cluster

        return on_cluster(jobs, cluster, packed)
    elif workers > 1:
        from verax.run.local import in_processes

        return in_processes(jobs, workers, packed)
    return _here(jobs, objects)


def _here(jobs: Sequence[Job], objects: Mapping[str, object]) -> Generator[Outcome, None, None]:
    from verax.run.local import in_this_process

    with at_hand(objects):
        yield from in_this_process(jobs)
