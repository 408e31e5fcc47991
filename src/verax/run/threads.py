"""One thread a job: parallel jobs do not fight for cores, and sums are made in the same order everywhere."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Protocol

# Read by numerical libraries when they are loaded.
ENVIRONMENT = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ),
    "1",
)
# Seconds below which an answer is quick whatever the number of threads.
QUICK = 0.003
BLAS = re.compile(rb"blas|blis|mkl|lapack|accelerate", re.IGNORECASE)
# Only for new processes: numba refuses to go on when this one changes under it.
WORKER_ENVIRONMENT = ENVIRONMENT | {"NUMBA_NUM_THREADS": "1"}


class ThreadPool(Protocol):
    """A numerical library's own threads, as threadpoolctl shows them."""

    def get_num_threads(self) -> int:
        """How many there are."""

    def set_num_threads(self, num_threads: int) -> None:
        """Makes them so many."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit numerical libraries to one thread for a while; those first loaded meanwhile stay so limited."""
    with ExitStack() as stack:
        for undo in limit_threads():
            stack.callback(undo)
        yield


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Matrix products in one thread for a while: small ones wait for each other longer than they take.

    On a busy machine of two cores a product of a thousand rows may take ten times as long in two threads. What is
    called meanwhile is limited too, so this is for one's own products and not around somebody else's model. It takes
    ten microseconds; threads that other code set are put back.
    """
    pools = _blas_pools()
    before = [pool.get_num_threads() for pool in pools]
    try:
        for pool in pools:
            pool.set_num_threads(1)
        yield
    finally:
        for pool, threads in zip(pools, before, strict=True):
            pool.set_num_threads(threads)


@contextmanager
def quicker_threads(ask: Callable[[], object]) -> Iterator[None]:
    """Numerical libraries with their own number of threads for a while, or with one, whichever answers sooner now.

    On a busy machine a model of boosted trees may take ten times as long in two threads as in one, since each waits for
    the other; on one with nothing else to do, two are quicker.

    Args:
        ask: what is asked many times while this holds; it is tried twice each way.
    """
    as_they_are = _timed(ask)
    if as_they_are < QUICK:
        yield
        return
    as_they_are = min(as_they_are, _timed(ask))
    with ExitStack() as limited:
        limited.enter_context(one_thread())
        if min(_timed(ask), _timed(ask)) > as_they_are:
            limited.close()
        yield


def _timed(ask: Callable[[], object]) -> float:
    began = time.perf_counter()
    ask()
    return time.perf_counter() - began


@cache
def _blas_pools() -> list[ThreadPool]:
    """The BLAS libraries that are loaded; finding them takes some milliseconds, so it is done once."""
    from threadpoolctl import ThreadpoolController

    paths = _loaded_blas(Path("/proc/self/maps"))
    if paths is None or not hasattr(ThreadpoolController, "_from_controllers"):
        found = ThreadpoolController()
    else:
        # threadpoolctl follows the links of all libraries of the process, hundreds of them, to find these few: a
        # third of the time of somebody's first explanation.
        found = ThreadpoolController._from_controllers([])
        for path in paths:
            found._make_controller_from_path(path)
    pools: list[ThreadPool] = found.select(user_api="blas").lib_controllers
    return pools


def _loaded_blas(maps: Path) -> list[str] | None:
    """The files of this process that may hold a BLAS, by their names; None where the system does not list them."""
    try:
        lines = maps.read_bytes().splitlines()
    except OSError:
        return None
    files = {line[line.find(b"/") :] for line in lines if b"/" in line}
    return sorted(file.decode("utf-8", "replace") for file in files if BLAS.search(file.rpartition(b"/")[2]))


def limit_threads() -> list[Callable[[], None]]:
    """Limit this process's numerical libraries, loaded or to come, to one thread; what undoes it."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    undo = [lambda: _restore(before)]
    if "numpy" in sys.modules:
        from threadpoolctl import threadpool_limits

        undo.append(threadpool_limits(1).restore_original_limits)
    if (
        torch := sys.modules.get("torch")
    ) is not None:  # its pool is not among those that threadpoolctl knows
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        undo.append(lambda: torch.set_num_threads(threads))
    return undo


def _restore(variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
