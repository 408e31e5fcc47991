"""Loops that numba compiles for the processor that they run on.

Import this module inside functions only, or in modules of which that holds: importing numba takes a while.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

_deciding = Lock()


def compiled(function: F, **options: Any) -> F:
    """Compiles on first use, and keeps the machine code beside the module, in a folder of this sort of processor.

    In one folder for all, numba's list of what it kept tells processors apart, but its files are numbered: of two
    machines that share the folder and compile at the same moment, one may be given the other's code, which ends the
    process that executes it.

    Args:
        function: to compile.
        options: more of numba's own.
    """
    import numba

    config: Any = numba.config
    with _deciding:
        before = config.CACHE_DIR
        beside = before or Path(function.__code__.co_filename).parent / "__pycache__"
        config.CACHE_DIR = str(Path(beside) / _processor())
        try:
            fast: Any = numba.njit(cache=True, nogil=True, **options)(function)
        finally:
            config.CACHE_DIR = before
    return cast(F, fast)


@cache
def _processor() -> str:
    """The sort of processor that numba compiles for, as a name for a folder."""
    import numba
    from llvmlite import binding

    config: Any = numba.config
    name, features = config.CPU_NAME, config.CPU_FEATURES
    if name is None:
        name = binding.get_host_cpu_name()
    if features is None:
        features = binding.get_host_cpu_features().flatten()
    return f"{name}-{hashlib.sha256(features.encode()).hexdigest()[:8]}"
