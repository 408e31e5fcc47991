"""Finding the files of a publisher's own train, validation and test parts in a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from verax.data.lines import numbered_lines
from verax.errors import VeraxError

# What publishers call the parts, in file names.
PARTS = {"train": 0, "dev": 1, "val": 1, "valid": 1, "validation": 1, "trial": 1, "heldout": 2, "test": 2}
PART_WORD = re.compile(r"(?:^|[^a-z])(train|dev|validation|valid|val|trial|heldout|test)(?=[^a-z]|$)")


def part_files(path: Path, pattern: str, format_name: str) -> list[tuple[int, Path]]:
    """The files of a folder that match a glob pattern and name a part, as (part, file).

    A single file is one part, which leaves the split to Verax.
    """
    if path.is_file():
        return [(0, path)]
    file_of: dict[int, Path] = {}
    for file in sorted(path.glob(pattern)):
        word = PART_WORD.search(file.name.lower())
        if word is None:
            continue
        part = PARTS[word.group(1)]
        if part in file_of:
            raise VeraxError(
                f"The folder {str(path)!r} holds two files of one part, {file_of[part].name} and "
                f"{file.name}; keep those of one set in a folder, or name one file."
            )
        file_of[part] = file
    if 0 not in file_of:
        raise VeraxError(
            f"The folder {str(path)!r} holds no file like {pattern} with 'train' in its name, as the format "
            f"{format_name!r} has; check the path."
        )
    return sorted(file_of.items())


def content_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers from 1."""
    return ((number, line) for number, line in numbered_lines(path) if line.strip())


def bad_line(number: int, path: Path, expected: str) -> VeraxError:
    """The error for a line that is not in the format."""
    return VeraxError(f"Line {number} of {path} is not {expected}; check that the file has this format.")
