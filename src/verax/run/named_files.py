"""Files that a job's arguments name: their content belongs to the job's key, since its outcome depends on it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def named_files(values: Iterable[object]) -> dict[str, str]:
    """The hash of each file that is named among some values; those that name none are passed over."""
    return {
        value: _digest(Path(value)) for value in values if isinstance(value, str) and _is_file(Path(value))
    }


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long to be a path, or with a character that none has
        return False


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
