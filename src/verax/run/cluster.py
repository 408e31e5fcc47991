"""Jobs on a cluster: the same jobs, done by the workers of a Dask scheduler."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import os
import queue
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import islice
from typing import Any, TypeAlias

from verax.errors import VeraxError
from verax.installed import install_command, require
from verax.run.identity import receive
from verax.run.jobs import Job, Outcome
from verax.run.manifest import library_versions
from verax.run.threads import limit_threads
from verax.run.worker import run_job

# Of distributed, which is not there in every installation, and typed in parts.
Client: TypeAlias = Any
Future: TypeAlias = Any

CONNECT_SECONDS = 8
CHATTY = ("distributed", "tornado", "asyncio")
DESERTED_SECONDS = 60  # without a single worker; a cluster that restarts its workers needs less
MOST_PENDING = (
    2_000  # jobs that the scheduler and this process know of at a time: it bounds the memory of both
)
FETCH_SECONDS = 30  # for an outcome, which is small, to come here from its worker


def on_cluster(
    jobs: Sequence[Job], address: str, objects: Mapping[str, bytes] | None = None
) -> Generator[Outcome, None, None]:
    """Do the jobs on the workers of the scheduler at this address; Dask moves the jobs of a worker that dies.

    Verax, in this version, and the modules of the jobs' functions must be importable on the workers.

    Args:
        jobs: what to do.
        address: of the scheduler.
        objects: what the jobs refer to, as `verax.run.identity.pack` gives it.
    """
    with _quiet_dask():
        yield from _through(_connect(address), jobs, address, dict(objects or {}))


def _through(
    client: Client, jobs: Sequence[Job], address: str, objects: dict[str, bytes]
) -> Generator[Outcome, None, None]:
    try:
        _check_workers(client, address)
        finished: queue.SimpleQueue[Future] = queue.SimpleQueue()
        paths = [os.path.abspath(entry) for entry in sys.path]
        pending: dict[str, tuple[Job, Future]] = {}  # a future that nobody holds is cancelled
        # A list, which is sent once to each worker; a dict would be scattered item by item.
        (sent,) = client.scatter([list(objects.items())], broadcast=True) if objects else (None,)
        waiting = iter(jobs)
        while True:
            for job in islice(waiting, MOST_PENDING - len(pending)):
                future = client.submit(run_on_worker, job, paths, sent, pure=False)
                pending[future.key] = job, future
                future.add_done_callback(finished.put)
            if not pending:
                break
            future = _next(finished, client, address)
            outcome = _outcome(pending[future.key][0], future, address)
            if outcome is None:
                future.add_done_callback(finished.put)
            else:
                del pending[future.key]
                yield outcome
    except OSError as error:  # what Dask raises when it asks a scheduler that is gone
        raise _lost(address, error) from error
    except (RuntimeError, asyncio.CancelledError, concurrent.futures.CancelledError) as error:
        # And what it raises where its own connection ended in the middle of a call.
        if client.status == "running":
            raise
        raise _lost(address, "its scheduler ended") from error
    finally:
        client.close(timeout=2)


def run_on_worker(
    job: Job, paths: Sequence[str], objects: Sequence[tuple[str, bytes]] | None = None
) -> Outcome:
    """What a cluster's worker does with a job."""
    receive(dict(objects or ()))
    # Behind the worker's own: there only for modules that lie beside the command, as with a shared folder.
    sys.path.extend(path for path in paths if path not in sys.path)
    limit_threads()
    return run_job(job, import_module("distributed").get_worker().address)


@contextmanager
def _quiet_dask() -> Iterator[None]:
    """Keep Dask, and what it works with, from logging tracebacks of what is told in a sentence."""
    with suppress(ImportError):  # which is told when it is needed
        import_module("distributed")
    # When it is imported it gives each of its loggers a level and a handler of its own.
    names = {*logging.root.manager.loggerDict, *CHATTY}
    loggers = [logging.getLogger(name) for name in names if name.partition(".")[0] in CHATTY]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _connect(address: str) -> Client:
    require("Running on a cluster, here and on the workers,", "distributed", extra="cluster")
    distributed = import_module("distributed")
    try:
        return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # the ways not to be a scheduler are many
        raise VeraxError(
            f"No Dask scheduler answers at {address}; start one (dask scheduler) or give its address, as in "
            "tcp://10.0.0.1:8786."
        ) from error


def _check_workers(client: Client, address: str) -> None:
    """Refuse a cluster whose numbers would differ from those of this machine, or that would never answer."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError as error:
        raise VeraxError(
            f"The scheduler at {address} has no workers; start some: dask worker {address} --nthreads 1"
        ) from error
    here = library_versions()
    for worker, there in client.run(library_versions, on_error="return").items():
        if isinstance(there, BaseException):
            raise VeraxError(
                f"The worker {worker} cannot import verax ({there}); install it there, in version {here['verax']}: "
                f"{install_command('cluster')}."
            )
        differing = [name for name in here if _minor(name, here[name]) != _minor(name, there.get(name))]
        if differing:
            name = differing[0]
            raise VeraxError(
                f"The worker {worker} has {name} {there.get(name) or 'missing'}, this process {here[name] or 'none'}"
                f"{_others(differing[1:])}: numbers may differ, so install the same versions on both."
            )


def _minor(name: str, version: str | None) -> str | None:
    """Python's third number changes no results; any other difference in versions may."""
    return version.rpartition(".")[0] if name == "python" and version else version


def _others(names: Sequence[str]) -> str:
    return f" (and {', '.join(names)} differ too)" if names else ""


def _next(finished: queue.SimpleQueue[Future], client: Client, address: str) -> Future:
    """The next future that is finished; an error when there is nobody left to finish one."""
    deserted_since: float | None = None
    while True:
        try:
            return finished.get(timeout=1.0)
        except queue.Empty:
            pass
        if client.scheduler_info()["workers"]:
            deserted_since = None
        else:
            deserted_since = deserted_since or time.monotonic()
            if time.monotonic() - deserted_since > DESERTED_SECONDS:
                raise VeraxError(
                    f"The cluster at {address} has lost all its workers; start some and run again: what is "
                    "finished is kept."
                )


def _outcome(job: Job, future: Future, address: str) -> Outcome | None:
    """The outcome of a job; None where it was lost with the worker that had it, and Dask computes it again."""
    if future.status in ("lost", "pending"):
        return None
    if future.status == "finished":
        try:
            outcome: Outcome = future.result(timeout=FETCH_SECONDS)
        except TimeoutError:  # its worker died meanwhile
            return None
        return outcome
    error = None if future.cancelled() else future.exception()
    if isinstance(error, import_module("distributed").KilledWorker):
        died = "WorkerDied: each worker that was given this job died in it"
        return Outcome(job.key, job.name, None, died, 0.0, 0, address)
    raise _lost(address, error or "the connection was closed")


def _lost(address: str, reason: object) -> VeraxError:
    return VeraxError(
        f"The cluster at {address} was lost ({reason}); run again when it is back: what is finished is kept."
    )
