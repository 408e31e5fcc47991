"""JSON with one spelling: equal data, equal bytes; and files that are there whole or not at all."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from verax.errors import VeraxError


def canonical(data: object, name: str = "the data") -> str:
    """The data as JSON in one line with sorted keys; floats are spelled so that they read back unchanged.

    Args:
        data: Dicts with string keys, lists, tuples, strings, numbers, booleans and None.
        name: What errors call the data.

    Raises:
        VeraxError: Something inside cannot be written as JSON; the sentence says where it stands.
    """
    _check_plain(data, name)
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def write_json(path: str | Path, data: object) -> None:
    """Write data as readable JSON, atomically; equal data give equal bytes."""
    path = Path(path)
    _check_plain(data, path.name)
    text = json.dumps(data, sort_keys=True, indent=2, allow_nan=False)
    write_whole(path, f"{text}\n".encode())


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a process killed at any moment, finds the old file or the new one."""
    # One fixed name for the unfinished file: what a killed process left is overwritten by the next one.
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # or a crash of the machine may leave the new name with empty content
        os.replace(unfinished, path)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise VeraxError(
            f"{path} could not be written ({error.strerror or error}); make room or choose another folder and run "
            "again: everything finished before is kept."
        ) from error


def _check_plain(data: object, place: str) -> None:
    """Refuse what JSON would change without a word (keys that are no strings) or cannot hold."""
    if data is None or isinstance(data, str | int):
        return
    if isinstance(data, float):
        if not math.isfinite(data):
            raise VeraxError(
                f"{place} is {float(data)}, which JSON cannot hold; use None where there is no number."
            )
    elif isinstance(data, Mapping):
        if not isinstance(data, dict):
            raise VeraxError(f"{place} is a {type(data).__name__}; use a plain dict.")
        for key, item in data.items():
            if not isinstance(key, str):
                raise VeraxError(
                    f"{place} has the key {key!r}, but JSON has only strings as keys; use str(...)."
                )
            _check_plain(item, f"{place}[{key!r}]")
    elif isinstance(data, list | tuple):
        for index, item in enumerate(data):
            _check_plain(item, f"{place}[{index}]")
    else:
        raise VeraxError(
            f"{place} is a {type(data).__module__}.{type(data).__qualname__}, which JSON cannot hold; "
            "use plain numbers, strings, lists and dicts."
        )
