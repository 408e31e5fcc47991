"""Reading text files line by line, plain or gzip, with errors that name the file and the line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from verax.data.bounds import check_gzip
from verax.errors import VeraxError


def open_text(path: Path, encoding: str = "utf-8-sig") -> IO[str]:
    """Opens a file, or the inside of a gzip file; ``newline=""`` keeps line ends inside quoted cells."""
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    if is_gzip:
        check_gzip(path)
        return gzip.open(path, "rt", encoding=encoding, newline="")
    return path.open(encoding=encoding, newline="")


def numbered_lines(path: Path, encoding: str = "utf-8-sig") -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers from 1, without line ends."""
    number = 0
    try:
        with open_text(path, encoding) as file:
            for number, line in enumerate(file, start=1):
                yield number, line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise not_utf8(path, number + 1) from error
    except (EOFError, gzip.BadGzipFile) as error:
        raise VeraxError(
            f"{path} breaks off after line {number}; the gzip file is damaged, get it again."
        ) from error


def not_utf8(path: Path, line: int) -> VeraxError:
    """The error for a file in another encoding."""
    return VeraxError(f"{path} is not UTF-8 near line {line}; save it as UTF-8 and try again.")


def json_objects(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """The objects of a JSON-lines file with their line numbers; empty lines are skipped."""
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise VeraxError(
                f"Line {number} of {path} is not JSON ({error.msg} at character {error.pos + 1}); "
                "write one JSON object per line."
            ) from error
        except (
            RecursionError,
            ValueError,
        ) as error:  # brackets in brackets, or a number of thousands of digits
            raise VeraxError(
                f"Line {number} of {path} is JSON that is too deep, or has a number that is too long, to be read; "
                "write plain values."
            ) from error
        if not isinstance(value, dict):
            raise VeraxError(
                f"Line {number} of {path} is not a JSON object; write one object per line, "
                'such as {"text": "..."}.'
            )
        yield number, value
