"""Functions that the jobs of these tests call; imported by name, here and in other processes."""

from __future__ import annotations

import os
import signal
import sys
import time
import uuid
from pathlib import Path


def note(folder: str, name: str) -> None:
    """Leave a file that says that a job ran, and in which process."""
    Path(folder, f"{name}-{os.getpid()}-{uuid.uuid4().hex}").touch()


def add(x, y):
    return {"sum": x + y, "pair": (x, y)}


def total(numbers: str) -> int:
    """Of an object that the job refers to."""
    from verax.run.identity import fetch

    return sum(fetch(numbers))


def measure(seed: int, runs: str | None = None, seconds: float = 0.0) -> dict:
    """Numbers whose last digits depend on the order of sums."""
    import numpy as np

    if runs is not None:
        note(runs, str(seed))
    time.sleep(seconds)
    matrix = np.random.default_rng(seed).normal(size=(120, 120))
    return {
        "singular": np.linalg.svd(matrix @ matrix, compute_uv=False)[:5].tolist(),
        "sum": float(matrix.sum()),
    }


def fail(message: str):
    raise RuntimeError(message)


def fail_unprintably():
    class UnprintableError(Exception):
        def __str__(self) -> str:
            raise ValueError

    raise UnprintableError


def leave(status: int):
    os._exit(status)


def exit_politely(status: int):
    sys.exit(status)


def give_array():
    import numpy as np

    return {"scores": [np.arange(3)]}


def give(value):
    return value


def give_nan():
    return {"recall": float("nan")}


def give_numbered():
    return {1: "one"}


def mutate(items: list) -> list:
    items.append("more")
    return items


def fail_without(marker: str):
    if not Path(marker).exists():
        raise RuntimeError(f"{Path(marker).name} is missing")
    return "there"


def die_once(marker: str):
    """Kill the own process as the system does when memory runs out, the first time."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def die_with_living_child(runs: str):
    """Die while a child of this process holds all its pipes open."""
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    Path(runs, f"child-{child}").touch()
    os.kill(os.getpid(), signal.SIGKILL)


def talk(text: str):
    print(text)
    os.write(1, f"{text} from below\n".encode())
    return text


def threads() -> list[int]:
    """How many threads the loaded numerical libraries would use."""
    import numpy as np
    import threadpoolctl

    np.ones((2, 2)) @ np.ones((2, 2))
    return sorted({pool["num_threads"] for pool in threadpoolctl.threadpool_info()})
