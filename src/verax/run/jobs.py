"""What a run is made of: jobs, named by the content of what they do, their outcomes, and where these are kept."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from verax.errors import VeraxError
from verax.run.canonical import canonical, write_whole

try:
    import fcntl
except ImportError:  # a system without file locks: two runs in one folder then do the same work twice
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Job:
    """One call of a pure function, to be made somewhere, once.

    Attributes:
        name: What people see: "stain 3, forest".
        function: "package.module:function", imported where the job runs; a pure function of its keyword arguments.
        arguments: Its keyword arguments, plain JSON data, and its only input: seeds and data hashes are among them.
        version: Of the function's meaning; raise it when the same arguments shall give another value.
    """

    name: str
    function: str
    arguments: Mapping[str, Any] = field(hash=False)
    version: int = 1

    def __post_init__(self) -> None:
        module, colon, function = self.function.partition(":")
        if not (module and colon and function):
            raise VeraxError(
                f"The job {self.name!r} names its function as {self.function!r}; write package.module:function."
            )
        if module == "__main__":
            raise VeraxError(
                f"The job {self.name!r} uses the function {function} of a script or notebook, which workers cannot "
                "import; move it into a module."
            )
        _ = self.key  # arguments that are not plain are refused here, not when the job's turn comes

    @cached_property
    def key(self) -> str:
        """A hash of the function, its version and its arguments, but not of the job's name."""
        return hashlib.sha256(self.to_json(named=False).encode()).hexdigest()

    def to_json(self, *, named: bool = True) -> str:
        """The job as one line of JSON."""
        fields = {"function": self.function, "version": self.version, "arguments": dict(self.arguments)}
        if named:
            fields["name"] = self.name
        return canonical(fields, f"the job {self.name!r}")


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    Attributes:
        key: The job's key.
        name: The job's name.
        value: What the function returned, as read back from JSON; None if it failed.
        error: "TypeName: message" in one line if the job failed.
        seconds: How long the function took.
        peak_memory: The most memory (bytes of resident set) its process had held by then; 0 if unknown.
        worker: Where it ran.
        traceback: Python's, of a function that raised.
    """

    key: str
    name: str
    value: Any | None
    error: str | None
    seconds: float
    peak_memory: int
    worker: str
    traceback: str | None = None

    @property
    def failed(self) -> bool:
        """Whether there is an error instead of a value."""
        return self.error is not None


def named_files(values: Iterable[object]) -> dict[str, str]:
    """The hash of each file that is named among some values; those that name none are passed over."""
    return {
        value: _file_digest(Path(value))
        for value in values
        if isinstance(value, str) and _is_file(Path(value))
    }


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long to be a path, or with a character that none has
        return False


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
            whole = stored["sha256"] == _outcome_digest(outcome) and outcome.key == key
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None  # absent, cut off, or not ours: the job is simply run again
        return outcome if whole else None

    def put(self, outcome: Outcome) -> None:
        """Keep an outcome, in place of the one that may be there."""
        stored = {"outcome": vars(outcome), "sha256": _outcome_digest(outcome)}
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
            _take_lock(descriptor, self.folder)
            yield
        finally:
            os.close(descriptor)


def _take_lock(descriptor: int, folder: Path) -> None:
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


def _outcome_digest(outcome: Outcome) -> str:
    return hashlib.sha256(canonical(vars(outcome), outcome.name).encode()).hexdigest()
