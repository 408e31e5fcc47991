"""Where outcomes are kept: one small file a job, written as soon as the job ends."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from verax.errors import VeraxError
from verax.run.canonical import canonical, write_whole
from verax.run.jobs import Outcome

try:
    import fcntl
except ImportError:  # a system without file locks: two runs in one folder then do the same work twice
    fcntl = None  # type: ignore[assignment]


class Store:
    """The outcomes under `folder/jobs`; a process killed at any moment leaves each file whole or absent."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def path(self, key: str) -> Path:
        """Where the outcome of the job with this key stands."""
        return self.folder / "jobs" / key[:2] / f"{key}.json"

    def get(self, key: str) -> Outcome | None:
        """The stored outcome; None if there is none, or none that can be read whole."""
        try:
            stored = json.loads(self.path(key).read_bytes())
            outcome = Outcome(**stored["outcome"])
            whole = stored["sha256"] == _digest(outcome) and outcome.key == key
        except (OSError, ValueError, TypeError, KeyError):
            return None  # absent, cut off, or not ours: the job is simply run again
        return outcome if whole else None

    def put(self, outcome: Outcome) -> None:
        """Keep an outcome, in place of the one that may be there."""
        stored = {"outcome": outcome.to_dict(), "sha256": _digest(outcome)}
        write_whole(self.path(outcome.key), f"{canonical(stored, outcome.name)}\n".encode())

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep a second run out of the folder; a killed process holds no lock."""
        path = self.folder / "jobs" / ".lock"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise VeraxError(
                f"{self.folder} cannot be used as a run folder ({error.strerror}); choose another."
            ) from error
        try:
            _take(descriptor, self.folder)
            yield
        finally:
            os.close(descriptor)


def _take(descriptor: int, folder: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise VeraxError(
            f"Another run is at work in {folder}; wait until it has ended, or choose another folder."
        ) from error
    except OSError:  # a network file system without locks: as on a system without them
        return


def _digest(outcome: Outcome) -> str:
    return hashlib.sha256(canonical(outcome.to_dict(), outcome.name).encode()).hexdigest()
