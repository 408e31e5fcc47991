"""What a run is made of: jobs, named by the content of what they do, and their outcomes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from verax.errors import VeraxError
from verax.run.canonical import canonical


@dataclass(frozen=True)
class Job:
    """One call of a pure function, to be made somewhere, once.

    Attributes:
        name: What people see: "stain 3, forest".
        function: "package.module:function", imported where the job runs; a pure function of its keyword arguments.
        arguments: Its keyword arguments, plain JSON data, and its only input: seeds and data hashes are among them.
        version: Of the function's meaning; raise it when the same arguments shall give another value.
        known_as: Where the function was when results were first stored under its name, if it has moved since: stored
            results stay valid.
    """

    name: str
    function: str
    arguments: Mapping[str, Any] = field(hash=False)
    version: int = 1
    known_as: str = ""

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
            fields |= {"name": self.name, "known_as": self.known_as}
        else:
            fields["function"] = self.known_as or self.function
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

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain data, see `Outcome(**data)` for the way back."""
        return dict(vars(self))
