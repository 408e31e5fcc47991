"""One thread a job: parallel jobs do not fight for cores, and sums are made in the same order everywhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

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
# Only for new processes: numba refuses to go on when this one changes under it.
WORKER_ENVIRONMENT = ENVIRONMENT | {"NUMBA_NUM_THREADS": "1"}


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit numerical libraries to one thread for a while; those first loaded meanwhile stay so limited."""
    with ExitStack() as stack:
        for undo in limit_threads():
            stack.callback(undo)
        yield


def limit_threads() -> list[Callable[[], None]]:
    """Limit this process's numerical libraries, loaded or to come, to one thread; what undoes it."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    undo = [lambda: _restore(before)]
    if "numpy" in sys.modules:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

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
