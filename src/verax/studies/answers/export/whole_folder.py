"""A folder that is there whole or not at all: made beside the old one, and put in its place when all is written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from verax.errors import VeraxError


@contextmanager
def replaced(folder: Path, ours: Callable[[str], bool]) -> Iterator[Path]:
    """A folder to write to; at the end of the block it takes the place of the old one, if there is one.

    Args:
        folder: where it shall be.
        ours: whether a file of that name may be replaced; a folder with others is left alone.

    Raises:
        VeraxError: the folder holds something else, or a file cannot be written; the old folder is as it was.
    """
    folder = folder.resolve()
    unfinished, old = (folder.parent / f".{folder.name}.{what}" for what in ("unfinished", "old"))
    try:
        if old.exists() and not folder.exists():
            old.rename(folder)  # a process was killed between the two renames below
        _check(folder, ours)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        yield unfinished
        for path in unfinished.iterdir():
            _sync(path)
        _put(unfinished, folder, old)
    except OSError as error:
        raise VeraxError(
            f"The export to {str(folder)!r} could not be written ({error.strerror or error}); make room or choose "
            "another folder and export again: what was there before is as it was."
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _check(folder: Path, ours: Callable[[str], bool]) -> None:
    if not folder.name:
        raise VeraxError(
            f"An export replaces the whole of its folder, and {str(folder)!r} cannot be replaced."
        )
    if not folder.exists():
        return
    if not folder.is_dir():
        raise VeraxError(f"{str(folder)!r} is a file; name a folder for the export.")
    others = sorted(path.name for path in folder.iterdir() if not ours(path.name))
    if others:
        raise VeraxError(
            f"The folder {str(folder)!r} holds what no export wrote ({len(others)}: {', '.join(others[:3])}); choose "
            "another folder, since an export replaces the whole of it."
        )


def _sync(path: Path) -> None:
    """Or a crash of the machine may leave the new name with empty content."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _put(new: Path, folder: Path, old: Path) -> None:
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        with suppress(OSError):
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
