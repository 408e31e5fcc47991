"""Finding the files of a publisher's own train, validation and test parts in a folder."""

from __future__ import annotations

import re
from pathlib import Path

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
    found: dict[int, Path] = {}
    for file in sorted(path.glob(pattern)):
        word = PART_WORD.search(file.name.lower())
        if word is None:
            continue
        part = PARTS[word.group(1)]
        if part in found:
            raise VeraxError(
                f"The folder {str(path)!r} holds two files of one part, {found[part].name} and "
                f"{file.name}; keep those of one set in a folder, or name one file."
            )
        found[part] = file
    if 0 not in found:
        raise VeraxError(
            f"The folder {str(path)!r} holds no file like {pattern} with 'train' in its name, as the format "
            f"{format_name!r} has; check the path."
        )
    return sorted(found.items())


def known_parts(parts: list[int]) -> list[int] | None:
    """The parts if there is more than one, else None: the publisher ships no split."""
    return parts if len(set(parts)) > 1 else None


def bad_line(number: int, path: Path, expected: str) -> VeraxError:
    """The error for a line that is not in the format."""
    return VeraxError(f"Line {number} of {path} is not {expected}; check that the file has this format.")
